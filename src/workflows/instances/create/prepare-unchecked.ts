import { InvalidInputError } from "../../../errors.ts";
import { type ClaimedInstance, NO_TRAITS } from "../../../store/instances/instance-records.ts";
import { decodeValue, isUnchecked } from "../../../values/index.ts";
import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import { prepareInstance } from "./create.ts";

/**
 * Whether an instance was created in SQL and hasn't begun. The database knows neither the workflow's schema nor its limits nor
 * its retention, so the first owner applies them; and the instance gets the newest version that the owner has.
 */
export function isUnprepared({ params, rollingBack }: ClaimedInstance): boolean {
  return isUnchecked(params) && rollingBack === null;
}

/** Gives the instance back, completed; or gives the error of params that the workflow doesn't take. */
export async function prepareUnchecked(
  runtime: WorkflowRuntime,
  instance: ClaimedInstance,
): Promise<InvalidInputError | null> {
  const workflow = runtime.workflows.find(instance.name) as RegisteredWorkflow; // instances of unknown workflows are never claimed
  try {
    const { insert } = await prepareInstance(runtime, workflow, { params: decodeValue(instance.params) });
    const { slotKey, rateKey, successRetention, errorRetention, timeout } = insert.traits ?? NO_TRAITS;
    const { params, version } = insert;
    const preparation = { params, version, slotKey, rateKey, successRetention, errorRetention, timeout };
    await runtime.store.instances.statements.prepare?.(instance, preparation);
    if (timeout !== null) runtime.timeouts.changed();
    return null;
  } catch (error) {
    if (error instanceof InvalidInputError) return error;
    throw error;
  }
}
