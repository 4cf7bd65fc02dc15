import { InvalidInputError, type ValueRefusedError } from "../../errors.ts";
import type { NewEntry } from "../../store/instances/instance-records.ts";
import { encodeError } from "../../values/index.ts";
import { describeStep } from "./steps/step-path.ts";

/**
 * Entries that say how a body ended. They don't follow from other endings of the same commit: bodies begin only after commits.
 */
const ENDINGS: readonly NewEntry["kind"][] = ["completed", "failed", "rolledBack", "rollbackFailed"];

/** What can't be stored if the value of such an entry can't be. */
const REFUSED: Partial<Record<NewEntry["kind"], string>> = {
  completed: "The result of",
  failed: "The error of",
  rolledBack: "The result of",
  rollbackFailed: "The error of",
  progress: "The progress of",
};

export function isBodysEnd({ kind }: NewEntry): boolean {
  return ENDINGS.includes(kind);
}

/** The error for what the database can never store. */
export function refusal(what: string, { message }: ValueRefusedError): InvalidInputError {
  return new InvalidInputError("value.refused", `${what} can't be stored. ${message}`);
}

/**
 * The entry to write instead of one whose value can't be stored: its step has failed. `undoes`: steps are being rolled back.
 */
export function withoutValue(entry: NewEntry, error: ValueRefusedError, undoes: boolean): NewEntry {
  const what = REFUSED[entry.kind];
  if (what === undefined) return { ...entry, value: null };
  const step = `${undoes ? "the rollback of the " : "the "}step ${describeStep(entry)}`;
  const value = encodeError(refusal(`${what} ${step}`, error));
  return { ...entry, kind: undoes ? "rollbackFailed" : "failed", value, dueAt: null };
}
