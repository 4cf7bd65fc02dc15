import { TAG } from "./tags.ts";

const CAUSED = `{${JSON.stringify(TAG)}:"caused","by":`;

/** Marks the text of an error with the paths of the steps that caused it. It decodes to the same error. */
export function markCaused(text: string, by: readonly string[]): string {
  return by.length === 0 ? text : `${CAUSED}${JSON.stringify(by)},"value":${text}}`;
}

/** The paths that the text of an error is marked with. */
export function causesOf(text: string): string[] {
  if (!text.startsWith(CAUSED)) return [];
  return (JSON.parse(text) as { by: string[] }).by;
}

const DELAYED = `{${JSON.stringify(TAG)}:"delayed","ms":`;

const ATTEMPTS = /^\d+,"of":(\d+),/;

/**
 * Marks the text of an error with the delay before the next attempt, and the number of attempts. It decodes to the same error.
 */
export function markDelayed(text: string, milliseconds: number, attempts: number): string {
  return `${DELAYED}${milliseconds},"of":${attempts},"value":${text}}`;
}

/** The delay that an error is marked with; null without one. */
export function delayOf(text: string): number | null {
  return text.startsWith(DELAYED) ? Number.parseInt(text.slice(DELAYED.length), 10) : null;
}

/** The number of attempts that an error is marked with; null without one. */
export function attemptsOf(text: string): number | null {
  const [, attempts] = ATTEMPTS.exec(text.startsWith(DELAYED) ? text.slice(DELAYED.length) : "") ?? [];
  return attempts === undefined ? null : Number(attempts);
}

const SENSITIVE = `{${JSON.stringify(TAG)}:"sensitive","value":`;

/** Shown to people in place of a sensitive value. */
export const REDACTED = "[REDACTED]";

/**
 * Marks the text of a value that only code may see. It decodes to the same value; code that shows it to people checks for the
 * mark.
 */
export function markSensitive(text: string): string {
  return `${SENSITIVE}${text}}`;
}

export function isSensitive(text: string): boolean {
  return text.startsWith(SENSITIVE);
}

const UNCHECKED = `{${JSON.stringify(TAG)}:"unchecked","value":`;

/** Whether a function of SQL has stored it, so that no schema has checked it yet. It decodes to the value as it was given. */
export function isUnchecked(text: string): boolean {
  return text.startsWith(UNCHECKED);
}
