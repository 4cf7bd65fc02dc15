import { isInfrastructure, isStoreClosed, PerdureError } from "../errors.ts";
import type { Receipt } from "../store/request-statements.ts";
import { InstanceHandle } from "../workflows/instances/instance-handle.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import type { BatchItem, ItemOutcome } from "./job-progress.ts";
import type { StoredRequest } from "./job-request.ts";

/** Far longer than a job waits for its next owner. */
const KEPT_MS = 7 * 86_400_000;
const LONGEST_MESSAGE = 300;
/** The instance has changed since it was found, so the action isn't for it any more. */
const CHANGED: readonly string[] = [
  "instance.finished",
  "instance.not_found",
  "instance.run_changed",
  "instance.not_errored",
];

type InstanceRequest = Extract<StoredRequest, { target: "instances" }>;

/** Who asked for what. */
export interface InstanceJob {
  readonly id: string;
  readonly actor: string | null;
  readonly request: InstanceRequest;
}

/** Of the action on one run: it is written in the same transaction, so another owner of the job finds that it is done. */
export function receiptOf({ id }: Pick<InstanceJob, "id">, { ref, run }: BatchItem): Receipt {
  return { key: `job-${id}-${ref}-${run}`, note: "null", keepMs: KEPT_MS };
}

/** Acts on the very run that was found. Throws only errors of the database: then it may be tried again. */
export async function actOnInstance(runtime: WorkflowRuntime, job: InstanceJob, item: BatchItem): Promise<ItemOutcome> {
  const { name, id, ref, run } = item;
  const options = { only: { ref, run }, receipt: receiptOf(job, item) };
  const instance = new InstanceHandle(runtime, runtime.workflows.stored(name), id, options);
  try {
    await act(instance, job);
    return { kind: "done" };
  } catch (error) {
    if (isInfrastructure(error) || isStoreClosed(error) || !(error instanceof PerdureError)) throw error;
    if (CHANGED.includes(error.code)) return { kind: "skipped" };
    const { code, message } = error;
    return {
      kind: "failed",
      error: { workflowName: name, instanceId: id, code, message: message.slice(0, LONGEST_MESSAGE) },
    };
  }
}

function act(instance: InstanceHandle, { actor, request: { action, options } }: InstanceJob): Promise<void> {
  const { rollback, from, version } = options;
  switch (action) {
    case "pause":
      return instance.pause(actor === null ? {} : { by: actor });
    case "resume":
      return instance.resume();
    case "terminate":
      return instance.terminate(rollback === undefined ? {} : { rollback });
    case "restart":
      return instance.restart({ ...(from !== undefined && { from }), ...(version !== undefined && { version }) });
    case "retry":
      return instance.retryFailedStep();
    case "delete":
      return instance.delete();
  }
}
