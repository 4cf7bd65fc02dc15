import { InvalidInputError } from "../../../errors.ts";
import { checkOptions } from "../../../options.ts";
import {
  FINISHED_STATUSES,
  INSTANCE_STATUSES,
  type InstanceStatus,
  NO_TRAITS,
} from "../../../store/instances/instance-records.ts";
import type { Receipt } from "../../../store/request-statements.ts";
import type { RegisteredWorkflow } from "../../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import { InstanceHandle } from "../instance-handle.ts";
import { parseStatuses } from "../lists/instance-filter.ts";
import { prepareInstance } from "./create.ts";
import type { RestartedInstance, RestartOptions } from "./create-options.ts";
import type { FindOwn } from "./create-or-send.ts";

const FIELDS = ["id", "params", "when", "priority", "retention", "timeout", "labels", "locationHint"];

/**
 * Concurrent calls yield one restart or one instance: the database decides, on the row as it is at that moment. `receiptOf`
 * returns receipts with the same key and the outcome as their note, so a repeated call returns the first outcome.
 */
export async function restartOrCreate(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: RestartOptions<unknown>,
  receiptOf?: (outcome: RestartedInstance["outcome"]) => Receipt,
  findOwn?: FindOwn,
): Promise<RestartedInstance> {
  checkOptions(options, { label: "restartOrCreate", fields: FIELDS, code: "create.invalid" });
  const { when = "finished", ...create } = options;
  if (create.id === undefined) throw new InvalidInputError("create.invalid", "restartOrCreate needs an id.");
  const statuses = parseWhen(when);
  const { insert } = await prepareInstance(runtime, workflow, create, { receipt: receiptOf?.("created") });
  const given = "params" in create;
  const { version } = insert;
  const request = {
    statuses,
    version,
    ...(given ? { params: insert.params, keys: insert.traits ?? NO_TRAITS } : { params: null }),
  };
  const instance = new InstanceHandle(runtime, workflow, insert.id);
  const { engine, instances } = runtime.store;
  const { namespace } = insert;
  const target = { ...insert, ...(receiptOf && { receipt: receiptOf("restarted") }) };
  const repeated = async (): Promise<RestartedInstance> => {
    const done = await engine.requests.find({ namespace, key: target.receipt?.key ?? "" });
    return { instance, outcome: done === null ? "unchanged" : JSON.parse(done.target) };
  };
  for (;;) {
    const only = await findOwn?.();
    if (only !== null) {
      const own = only === undefined ? target : { ...target, only };
      const change = await runtime.change("restart", () => instances.statements.restart(own, request));
      if (change.repeated) return repeated();
      if (change.instance !== null) {
        return { instance, outcome: change.changed ? "restarted" : "unchanged" };
      }
    }
    const [created] = await runtime.create([insert]);
    if (created?.result === "repeated") return repeated();
    if (created?.result === "created") return { instance, outcome: "created" };
    // Another caller has created it meanwhile: the next round finds it.
  }
}

function parseWhen(when: unknown): readonly InstanceStatus[] {
  if (when === "finished") return FINISHED_STATUSES;
  if (when === "always") return INSTANCE_STATUSES;
  return parseStatuses(when, 'when must be "finished" or "always", or', "create.invalid");
}
