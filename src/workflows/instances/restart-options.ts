import type { InstanceStatus } from "../../store/instances/instance-records.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { CreateOptions } from "./create-options.ts";
import type { WorkflowInstance } from "./instance.ts";

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
