import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import {
  FINISHED_STATUSES,
  INSTANCE_STATUSES,
  type InstanceStatus,
  NO_TRAITS,
} from "../../store/instances/instance-records.ts";
import type { RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { prepareInstance } from "./create.ts";
import type { RestartedInstance, RestartOptions } from "./create-options.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { parseStatuses } from "./list-instances.ts";

const FIELDS = ["id", "params", "when", "priority", "retention", "labels", "locationHint"];

/** Concurrent calls yield one restart or one instance: the database decides, on the row as it is at that moment. */
export async function restartOrCreate(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  options: RestartOptions<unknown>,
): Promise<RestartedInstance> {
  checkOptions(options, { label: "restartOrCreate", fields: FIELDS, code: "create.invalid" });
  const { when = "finished", ...create } = options;
  if (create.id === undefined) throw new InvalidInputError("create.invalid", "restartOrCreate needs an id.");
  const statuses = parseWhen(when);
  const { insert } = await prepareInstance(runtime, workflow, create);
  const given = "params" in create;
  const request = { statuses, params: given ? insert.params : null, keys: given ? (insert.traits ?? NO_TRAITS) : null };
  const instance = new InstanceHandle(runtime, workflow, insert.id);
  const { statements } = runtime.store.instances;
  for (;;) {
    const change = await runtime.change("restart", () => statements.restart(insert, request));
    if (change.instance !== null) {
      return { instance, outcome: change.changed ? "restarted" : "unchanged" };
    }
    const [created] = await runtime.create([insert]);
    if (created?.result === "created") return { instance, outcome: "created" };
    // Another caller has created it meanwhile: the next round finds it.
  }
}

function parseWhen(when: unknown): readonly InstanceStatus[] {
  if (when === "finished") return FINISHED_STATUSES;
  if (when === "always") return INSTANCE_STATUSES;
  return parseStatuses(when, 'when must be "finished" or "always", or', "create.invalid");
}
