import { decodeValue, isSensitive, REDACTED } from "../../values/index.ts";

/** A stored result as people see it. */
export function shownValue(text: string): unknown {
  return isSensitive(text) ? REDACTED : decodeValue(text);
}
