import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { INSTANCE_STATUSES, type InstanceStatus } from "../store/instance-records.ts";
import type { CreateOptions } from "./create-options.ts";
import type { WorkflowInstance } from "./instance.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { parseStatuses } from "./list-instances.ts";
import { prepareInstance } from "./prepare-instance.ts";
import type { RegisteredWorkflow } from "./registered-workflows.ts";
import type { EventPayloads } from "./workflow-event.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** How to make sure that an instance runs, or runs again. */
export interface RestartOptions<Params> extends Omit<CreateOptions<Params>, "onConflict"> {
  readonly id: string;
  /** Of the new instance, or of the new run. Left out, a run that is restarted has those of the run before. */
  readonly params?: Params;
  /**
   * The states from which it is restarted: `finished` (complete, errored or terminated), `always`, a status, or several.
   * Default: `finished`, so that what is under way is left to end.
   */
  readonly when?: "finished" | "always" | InstanceStatus | readonly InstanceStatus[];
}

/** The arguments of `restartOrCreate`: params may be left out where the workflow takes none. */
export type RestartArguments<Params> = undefined extends Params
  ? [options: RestartOptions<Params>]
  : [options: RestartOptions<Params> & { readonly params: Params }];

export interface RestartedInstance<Output = unknown, Events extends EventPayloads = EventPayloads> {
  readonly instance: WorkflowInstance<Output, Events>;
  /** `unchanged`: there is one, and its state isn't one from which it was to be restarted. */
  readonly outcome: "created" | "restarted" | "unchanged";
}

const FINISHED: readonly InstanceStatus[] = ["complete", "errored", "terminated"];
const FIELDS = ["id", "params", "when", "retention", "labels"];

/** Who asks at the same time gets one restart, or one instance: the database decides, on the row as it is at that moment. */
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
  const request = { statuses, params: "params" in create ? insert.params : null };
  const instance = new InstanceHandle(runtime, workflow, insert.id);
  const { statements } = runtime.store.instances;
  for (;;) {
    const change = await statements.restart(insert, request);
    if (change.instance !== null) {
      if (change.changed) runtime.changed(change.instance, "restart");
      return { instance, outcome: change.changed ? "restarted" : "unchanged" };
    }
    const [created] = await runtime.create([insert]);
    if (created?.result === "created") return { instance, outcome: "created" };
    // Somebody else has created it in between: now it can be asked for its state.
  }
}

function parseWhen(when: unknown): readonly InstanceStatus[] {
  if (when === "finished") return FINISHED;
  if (when === "always") return INSTANCE_STATUSES;
  return parseStatuses(when, 'when must be "finished" or "always", or', "create.invalid");
}
