import { TAG } from "./tags.ts";

const BEGINNING = `{${JSON.stringify(TAG)}:"caused","by":`;

/** The text of an error that was thrown because of what these names stand for: it decodes to the same error. */
export function markCaused(text: string, by: readonly string[]): string {
  return by.length === 0 ? text : `${BEGINNING}${JSON.stringify(by)},"value":${text}}`;
}

/** The names that the text of an error was marked with. */
export function causesOf(text: string): string[] {
  if (!text.startsWith(BEGINNING)) return [];
  return (JSON.parse(text) as { by: string[] }).by;
}
