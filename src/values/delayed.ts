import { TAG } from "./tags.ts";

const BEGINNING = `{${JSON.stringify(TAG)}:"delayed","ms":`;

/** The text of an error after which a retry comes so many milliseconds later: it decodes to the same error. */
export function markDelayed(text: string, milliseconds: number): string {
  return `${BEGINNING}${milliseconds},"value":${text}}`;
}

/** The delay that an error was marked with; null if it wasn't. */
export function delayOf(text: string): number | null {
  return text.startsWith(BEGINNING) ? Number.parseInt(text.slice(BEGINNING.length), 10) : null;
}
