import type { Duration } from "../../../duration.ts";
import type { InstanceStatus } from "../../../store/instances/instance-records.ts";
import type { Labels } from "../../define/labels.ts";
import type { RetentionOptions } from "../../define/retention.ts";
import type { EventPayloads } from "../../define/workflow-event.ts";
import type { EventToSend, WorkflowInstance } from "../instance.ts";

/** Options of `create`. */
export interface CreateOptions<Params> {
  /**
   * At most 100 letters, digits and `. : _ -` (see `workflowLimits.instanceIdLength`), unique within the workflow. Default: a
   * generated id.
   */
  readonly id?: string;
  readonly params?: Params;
  /** If the workflow has an instance with this id: throw `instance.already_exists` (default), or return that instance. */
  readonly onConflict?: "error" | "return";
  /**
   * From -100 to 100: of the instances that wait to start, those with a higher priority start first. Instances that have begun
   * come before all of them. Default: 0.
   */
  readonly priority?: number;
  /** How long the finished instance is kept. Default: as its workflow says. */
  readonly retention?: RetentionOptions;
  /**
   * How long a run of it may take, before it ends as errored with the code `workflow.timeout`. Default: as its workflow says.
   */
  readonly timeout?: Duration;
  /** Labels by which it can be found: at most 16. */
  readonly labels?: Labels;
  /** Accepted for compatibility with Cloudflare; it has no effect. */
  readonly locationHint?: string;
}

/** One instance of a batch: params are optional if the workflow takes none. */
export type NewInstance<Params> = CreateOptions<Params> & NeededParams<Params>;

/** Requires params if the workflow takes some. */
type NeededParams<Params> = undefined extends Params ? unknown : { readonly params: Params };

/** The arguments of `create`. */
export type CreateArguments<Params> = undefined extends Params
  ? [options?: CreateOptions<Params>]
  : [options: NewInstance<Params>];

/** Options of `step.create`, besides those of every `create`. */
export interface ChildOptions {
  /**
   * What becomes of the child when the parent instance ends, however it ends: `terminate` terminates it, with rollback if it
   * has one. A restart of the parent isn't an end. Default: `leave`.
   */
  readonly onParentEnd?: "leave" | "terminate";
}

/** The arguments of `step.create`. */
export type ChildArguments<Params> = undefined extends Params
  ? [options?: CreateOptions<Params> & ChildOptions]
  : [options: NewInstance<Params> & ChildOptions];

/**
 * The instances of a batch: each with its own options, or a number of equal ones. At most `workflowLimits.batchSize` (default:
 * 100).
 */
export type BatchOptions<Params> =
  | { readonly instances: readonly NewInstance<Params>[] }
  | ({ readonly count: number } & Omit<CreateOptions<Params>, "id" | "onConflict"> & NeededParams<Params>);

/** Why an instance of a batch wasn't created or deleted. */
export interface BatchError {
  /** Its index in the batch, counted from 0. */
  readonly index: number;
  /** Its id, if it was given one. */
  readonly id?: string;
  /** The code of the error that `create` or `delete` would have thrown. */
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

/** Options of `restartOrCreate`. */
export interface RestartOptions<Params> extends Omit<CreateOptions<Params>, "onConflict"> {
  readonly id: string;
  /** The params of the new instance or run. Default: a restart keeps those of the previous run. */
  readonly params?: Params;
  /**
   * The statuses from which it is restarted: `finished` (complete, errored or terminated), `always`, a status, or several.
   * Default: `finished`, so that an unfinished instance is left to end.
   */
  readonly when?: "finished" | "always" | InstanceStatus | readonly InstanceStatus[];
}

/** The arguments of `restartOrCreate`: params are optional if the workflow takes none. */
export type RestartArguments<Params> = undefined extends Params
  ? [options: RestartOptions<Params>]
  : [options: RestartOptions<Params> & { readonly params: Params }];

export interface RestartedInstance<Output = unknown, Events extends EventPayloads = EventPayloads> {
  readonly instance: WorkflowInstance<Output, Events>;
  /** `unchanged`: the instance exists, and its status isn't one of `when`. */
  readonly outcome: "created" | "restarted" | "unchanged";
}

/** Options of `createOrSend`: those of `create`, used if there is no instance with this id, and the event. */
export type CreateOrSendOptions<Params, Type extends string, Payload> = Omit<CreateOptions<Params>, "onConflict"> &
  NeededParams<Params> & { readonly id: string; readonly event: EventToSend<Type, Payload> };

export interface CreatedOrSent<Output = unknown, Events extends EventPayloads = EventPayloads> {
  readonly instance: WorkflowInstance<Output, Events>;
  /** `created`: the instance is new, and has the event. `sent`: it existed. */
  readonly outcome: "created" | "sent";
}
