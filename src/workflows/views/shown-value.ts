import { decodeValue, isSensitive, REDACTED, StreamReference } from "../../values/index.ts";

/** A stored result as people see it. Of a stream they see what it was and how large. */
export function shownValue(text: string): unknown {
  if (isSensitive(text)) return REDACTED;
  const value = decodeValue(text);
  return value instanceof StreamReference ? { stream: value.kind, bytes: value.bytes } : value;
}
