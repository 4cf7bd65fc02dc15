import { decodeValue, describeError, refuseEncoded } from "../../values/index.ts";
import type { InstanceState } from "../instances/instance.ts";

/** What became of a rollback. One that has no error was ended by `terminate()`. */
export function toRollback(text: string | null): Pick<InstanceState, "rollback"> {
  if (text === null) return {};
  refuseEncoded(text);
  const { outcome, error } = JSON.parse(text) as { outcome: "complete" | "failed"; error?: unknown };
  if (outcome === "complete") return { rollback: { outcome } };
  const stopped = { name: "WorkflowTerminatedError", message: "The instance was terminated during its rollback." };
  const failure = error === undefined ? stopped : describeError(decodeValue(JSON.stringify(error)));
  return { rollback: { outcome, error: failure } };
}
