import { TAG } from "./tags.ts";

const BEGINNING = `{${JSON.stringify(TAG)}:"sensitive","value":`;

/** What people are shown instead. */
export const REDACTED = "[REDACTED]";

/** The text of a value that only code may see: it decodes to the same value, and those who show it to people can tell. */
export function markSensitive(text: string): string {
  return `${BEGINNING}${text}}`;
}

export function isSensitive(text: string): boolean {
  return text.startsWith(BEGINNING);
}
