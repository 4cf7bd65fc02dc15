import type { InstanceStatus } from "../../store/instances/instance-records.ts";
import type { Labels } from "../define/labels.ts";
import type { RetentionOptions } from "../define/retention.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { WorkflowInstance } from "./instance.ts";

/** How an instance is created. */
export interface CreateOptions<Params> {
  /** At most 100 letters, digits and `. : _ -`, unique within the workflow. Default: one that is made for it. */
  readonly id?: string;
  readonly params?: Params;
  /** What to do if the workflow has an instance of this id: throw `instance.already_exists` (default), or give that one. */
  readonly onConflict?: "error" | "return";
  /** From -100 to 100: of what waits to start, higher ones start first. What has begun comes before all of them. Default: 0. */
  readonly priority?: number;
  /** How long it is kept when it is finished. What isn't said is as its workflow says, or for ever. */
  readonly retention?: RetentionOptions;
  /** What it can be found by: at most 16 texts under names of your own. */
  readonly labels?: Labels;
  /** Cloudflare's: where in the world an instance should run. Accepted, and of no effect here. */
  readonly locationHint?: string;
}

/** One of a batch: params may be left out where the workflow takes none. */
export type NewInstance<Params> = CreateOptions<Params> & NeededParams<Params>;

/** Asks for params where the workflow takes some. */
type NeededParams<Params> = undefined extends Params ? unknown : { readonly params: Params };

/** The arguments of `create`. */
export type CreateArguments<Params> = undefined extends Params
  ? [options?: CreateOptions<Params>]
  : [options: NewInstance<Params>];

/** Instances to create: each for itself, or so many that are alike. At most 100. */
export type BatchOptions<Params> =
  | { readonly instances: readonly NewInstance<Params>[] }
  | ({ readonly count: number } & Omit<CreateOptions<Params>, "id" | "onConflict"> & NeededParams<Params>);

/** Why one of a batch wasn't created or deleted. */
export interface BatchError {
  /** Its place in the batch, counted from 0. */
  readonly index: number;
  /** Where it was given one. */
  readonly id?: string;
  /** That of the error which `create` or `delete` would have thrown. */
  readonly code: string;
  readonly message: string;
}

export interface CreatedBatch<Output = unknown, Events extends EventPayloads = EventPayloads> {
  /** In the order of the batch. */
  readonly created: readonly WorkflowInstance<Output, Events>[];
  readonly errors: readonly BatchError[];
}

export interface DeletedBatch {
  readonly deleted: readonly { readonly id: string }[];
  readonly errors: readonly BatchError[];
}

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
