import { InvalidInputError } from "../../errors.ts";
import { HIGHEST_VERSION, NO_VERSION } from "../../store/instances/instance-records.ts";

/** A version as it is stored: 0 without. */
export function parseVersion(value: unknown, otherwise: number = NO_VERSION): number {
  if (value === undefined) return otherwise;
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= HIGHEST_VERSION) return value;
  throw new InvalidInputError(
    "workflow.invalid",
    `A workflow's version must be a whole number from 1 to ${HIGHEST_VERSION}; got ${show(value)}.`,
  );
}

/** A version as callers see it. Null without, and while an instance that was created in SQL has none yet. */
export function toVersion(stored: number): number | null {
  return stored > NO_VERSION ? stored : null;
}

/** The version of an instance or a run; nothing without. */
export function shownVersion({ version }: { readonly version: number }): { readonly version?: number } {
  const shown = toVersion(version);
  return shown === null ? {} : { version: shown };
}

function show(value: unknown): string {
  return typeof value === "number" ? String(value) : `a value of type ${value === null ? "null" : typeof value}`;
}
