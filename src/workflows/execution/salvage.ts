import { InvalidInputError, ValueRefusedError } from "../../errors.ts";
import type { NewEntry } from "../../store/instances/instance-records.ts";
import { encodeError } from "../../values/index.ts";
import { describeStep } from "./step-path.ts";

/** What a commit had that the database can never store: the ending of a step, or that of the run. */
export type Refused = "step" | "outcome";

/** Entries that say how a function ended. They don't follow from what ended in the same commit: bodies begin only after commits. */
const ENDINGS: readonly NewEntry["kind"][] = ["completed", "failed", "rolledBack", "rollbackFailed"];

export function refusal(what: string, { message }: ValueRefusedError): InvalidInputError {
  return new InvalidInputError("value.refused", `${what} can't be stored. ${message}`);
}

/**
 * Writes, one by one, those entries of a refused commit that can be stored. The step whose value can't be has failed, once and for
 * good; what followed from its ending in the same commit is left out. `write` gives false if the instance isn't ours any more.
 * Throws what the database says if not even that can be stored.
 */
export async function salvage(
  entries: readonly NewEntry[],
  write: (entry: NewEntry) => Promise<boolean>,
): Promise<Refused | "superseded"> {
  let refused: Refused = "outcome";
  for (const entry of entries) {
    const follows = refused === "step" && !ENDINGS.includes(entry.kind);
    if (follows || entry.kind === "rollingBack") continue; // the latter tells what the outcome tells
    try {
      if (!(await write(entry))) return "superseded";
    } catch (error) {
      if (!(error instanceof ValueRefusedError)) throw error;
      refused = "step";
      if (!(await write(withoutValue(entry, error)))) return "superseded";
    }
  }
  return refused;
}

function withoutValue(entry: NewEntry, error: ValueRefusedError): NewEntry {
  if (!ENDINGS.includes(entry.kind)) return { ...entry, value: null };
  const undoes = entry.kind === "rolledBack" || entry.kind === "rollbackFailed";
  const what = entry.kind === "completed" ? "The result" : "The error";
  const value = encodeError(
    refusal(`${what} of the ${undoes ? "rollback of the " : ""}step ${describeStep(entry)}`, error),
  );
  return { ...entry, kind: undoes ? "rollbackFailed" : "failed", value, dueAt: null };
}
