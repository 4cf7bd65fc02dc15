import { InvalidInputError } from "../../errors.ts";

/**
 * What to do if the code calls a new step where the history of an instance has others, which the code hasn't called: a step was
 * renamed, removed, moved or inserted while the instance was unfinished. `warn` logs it, and the new step runs. `stop` holds
 * the instance, without using up attempts, until a process has code that matches its history.
 */
export type OnDivergence = "warn" | "stop";

export function parseOnDivergence(value: unknown, otherwise: OnDivergence = "warn"): OnDivergence {
  if (value === undefined) return otherwise;
  if (value === "warn" || value === "stop") return value;
  throw new InvalidInputError("workflow.invalid", `A workflow's onDivergence must be "warn" or "stop".`);
}

export function parseStrict(value: unknown, otherwise = false): boolean {
  if (value === undefined) return otherwise;
  if (typeof value === "boolean") return value;
  throw new InvalidInputError("workflow.invalid", "A workflow's strict must be true or false.");
}
