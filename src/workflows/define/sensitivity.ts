import { InvalidInputError } from "../../errors.ts";

/** What of a workflow's instances is hidden from people. Code gets the real value. */
export type WorkflowSensitivity = "params";

/** Whether the params are sensitive. */
export function parseSensitive(value: unknown, otherwise = false): boolean {
  if (value === undefined) return otherwise;
  if (value === "params") return true;
  throw new InvalidInputError("workflow.invalid", `A workflow's sensitive must be "params".`);
}
