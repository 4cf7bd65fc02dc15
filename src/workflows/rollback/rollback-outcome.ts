import { decodeValue, describeWithStack, type ErrorDescription, refuseEncoded } from "../../values/index.ts";

/** The outcome of a rollback. `error` is why it failed. */
export interface RollbackOutcome {
  readonly outcome: "complete" | "failed";
  readonly error?: ErrorDescription;
}

/** The outcome of a rollback, as operators see it. A failed one that has no error was ended by `terminate()`. */
export function toRollback(text: string | null, stackTraces: boolean): { readonly rollback?: RollbackOutcome } {
  if (text === null) return {};
  refuseEncoded(text);
  const { outcome, error } = JSON.parse(text) as { outcome: "complete" | "failed"; error?: unknown };
  if (outcome === "complete") return { rollback: { outcome } };
  const stopped = { name: "WorkflowTerminatedError", message: "The instance was terminated during its rollback." };
  const failure = error === undefined ? stopped : describeWithStack(decodeValue(JSON.stringify(error)), stackTraces);
  return { rollback: { outcome, error: failure } };
}
