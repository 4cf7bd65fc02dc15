import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { decodeValue } from "../../values/index.ts";
import { usageError } from "../failures.ts";

/** A value of the command line: JSON, `-` for the standard input, `@file` for a file, or a plain text. */
export async function readValue(text: string | undefined, stdin: AsyncIterable<unknown>): Promise<unknown> {
  if (text === undefined) return undefined;
  if (text === "-") return parse(await readAll(stdin), "the standard input");
  if (text.startsWith("@")) return parse(readFileSync(text.slice(1), "utf8"), text.slice(1));
  if (/^[[{"\d-]|^(true|false|null)$/.test(text)) return parse(text, `"${text}"`);
  return text;
}

/** A stored value, as the HTTP API gives it, as a text for people. */
export function showValue(value: unknown): string {
  if (value === undefined) return "-";
  return inspect(decodeValue(JSON.stringify(value)), { depth: 6, maxArrayLength: 50, maxStringLength: 2000 });
}

async function readAll(stdin: AsyncIterable<unknown>): Promise<string> {
  let text = "";
  for await (const chunk of stdin) text += String(chunk);
  return text;
}

/** Values that JSON lacks have their stored form, such as `{ "$perdure": "Date", … }`. */
function parse(text: string, label: string): unknown {
  try {
    return decodeValue(text);
  } catch {
    throw usageError(
      `${label} isn't a value in JSON.`,
      `Quote texts that look like JSON, as in '"-1"', or read the value from a file: @params.json.`,
    );
  }
}
