import type { InstanceStatus } from "../../store/instances/instance-records.ts";
import type { Labels } from "../define/labels.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type {
  BatchOptions,
  CreateArguments,
  CreatedBatch,
  CreatedOrSent,
  CreateOrSendOptions,
  DeletedBatch,
  NewInstance,
  RestartArguments,
  RestartedInstance,
} from "./create/create-options.ts";
import type { EventToSend, InstanceParent, InstanceSummary, WorkflowInstance } from "./instance.ts";

/** Creates, finds and manages the instances of one workflow. */
export interface WorkflowBinding<Params, Output, Events extends EventPayloads> {
  /**
   * Creates an instance and starts it. Resolves when it is stored.
   *
   * @example
   * const order = await app.workflows.checkout.create({ id: "order-1", params: { total: 12 } });
   */
  create(...rest: CreateArguments<Params>): Promise<WorkflowInstance<Output, Events>>;
  /**
   * Creates up to `workflowLimits.batchSize` instances (default: 100) in one statement. Skips ids that exist: returns the
   * instances that are new.
   */
  createBatch(batch: readonly NewInstance<Params>[]): Promise<WorkflowInstance<Output, Events>[]>;
  /**
   * The same, with an error for each instance that `create` would have refused, including ids that exist.
   *
   * @example
   * const { created, errors } = await app.workflows.checkout.createBatch({ count: 10, params: { total: 12 } });
   */
  createBatch(batch: BatchOptions<Params>): Promise<CreatedBatch<Output, Events>>;
  /**
   * Makes sure that an instance runs: creates it if it doesn't exist, restarts it if it is finished (or in a status that `when`
   * names), and otherwise leaves it alone. Returns which of these happened. Of concurrent calls, one restarts it.
   *
   * @example
   * const { outcome } = await app.workflows.report.restartOrCreate({ id: "daily" });
   */
  restartOrCreate(...rest: RestartArguments<Params>): Promise<RestartedInstance<Output, Events>>;
  /**
   * Sends an event to an instance, and creates the instance first if there is none with this id, in one transaction: no
   * instance is left without its event. Concurrent calls create one instance, and all of their events arrive. Throws
   * `instance.finished` if the instance has ended.
   *
   * @example
   * await app.workflows.cart.createOrSend({ id: user, params: { user }, event: { type: "added", payload: { item } } });
   */
  createOrSend<Type extends keyof Events & string>(
    options: CreateOrSendOptions<Params, Type, Events[Type]>,
  ): Promise<CreatedOrSent<Output, Events>>;
  /**
   * Sends an event to every unfinished instance that has all of these labels and exists when the call begins. With an `id`,
   * each run receives the event once, however often this is called. Returns how many have received it.
   *
   * @example
   * const { sent } = await app.workflows.import.sendEventToAll({ labels: { customer: "acme" }, type: "stop" });
   */
  sendEventToAll<Type extends keyof Events & string>(event: LabelledEvent<Type, Events[Type]>): Promise<SentToAll>;
  /** Deletes up to `workflowLimits.batchSize` instances (default: 100) with their histories, in any status. */
  deleteBatch(ids: readonly string[]): Promise<DeletedBatch>;
  /** Returns an instance by its id; throws `instance.not_found` if there is none. */
  get(id: string): Promise<WorkflowInstance<Output, Events>>;
  /** One page of instances. */
  list(options?: InstanceListOptions): Promise<InstancePage>;
  /**
   * The number of instances in each status. A status is counted up to 10,000 instances, so that it takes milliseconds however
   * many there are: `atLeast` names the figures that stopped there. With `exact`, all are counted.
   *
   * @example
   * const { complete, atLeast } = await app.workflows.checkout.counts();
   * console.log(atLeast.includes("complete") ? `${complete}+` : complete);
   */
  counts(options?: CountOptions): Promise<InstanceCounts>;
  /**
   * The versions of the workflow, the newest first: those that this process has, and others that unfinished instances are on.
   * It counts exactly, and reads every unfinished instance.
   */
  versions(): Promise<VersionSummary[]>;
}

/** An event for all unfinished instances with these labels. */
export type LabelledEvent<Type extends string, Payload> = EventToSend<Type, Payload> & {
  /** At least one. */
  readonly labels: Labels;
};

/** What became of an event that was sent to many instances. */
export interface SentToAll {
  /** The number of instances that have the event, from this call or from an earlier one with the same `id`. */
  readonly sent: number;
  /** The number of instances that take no more events until they have received some. Send it to them again later. */
  readonly full: number;
}

/** The workflows of an application without their types. */
// biome-ignore lint/suspicious/noExplicitAny: whatever the workflow takes; it isn't known here
export type WorkflowBindings = Readonly<Record<string, WorkflowBinding<any, unknown, any>>>;

/** Which instances: those that meet all of these conditions. */
export interface InstanceFilterOptions {
  /** One status, or several. */
  readonly status?: InstanceStatus | readonly InstanceStatus[];
  /** Only instances with all of these labels. */
  readonly labels?: Labels;
  /** Only instances created at this time or later. */
  readonly createdFrom?: Date | number;
  /** Only instances created before this time. */
  readonly createdBefore?: Date | number;
  /** Only instances that finished at this time or later. */
  readonly finishedFrom?: Date | number;
  /** Only instances that finished before this time. */
  readonly finishedBefore?: Date | number;
  /** Only instances whose ids begin like this. */
  readonly idPrefix?: string;
  /** Only instances of this version of their workflow; null is the workflow without a version. */
  readonly version?: number | null;
  /** Only instances that a step of this instance has created. */
  readonly parent?: InstanceParent;
  /**
   * Only instances whose present run has come to a step with this name: it is in one of the last 1000 entries of the journal.
   */
  readonly step?: string;
  /** Only errored and diverged instances with this text in the name, message or code of their error, in upper or lower case. */
  readonly error?: string;
}

/**
 * Status, labels and `idPrefix` are looked up in indexes. For times, and for another condition besides labels, some thousands of
 * entries are passed for each page; for the other conditions, instances are compared one after another, at most 10,000 for each
 * page. Then a page ends early, and its cursor continues the search.
 */
export interface InstanceListOptions extends InstanceFilterOptions {
  /** Sorted by creation time. Default: `newest`. */
  readonly order?: "newest" | "oldest";
  /** From 1 to 1000. Default: 100. */
  readonly limit?: number;
  /** The `cursor` of the previous page. */
  readonly cursor?: string;
}

export interface InstancePage {
  readonly instances: readonly InstanceSummary[];
  /** For the next page; null on the last. A page can have fewer instances than its limit although there are more. */
  readonly cursor: string | null;
}

/** A version of a workflow. */
export interface VersionSummary {
  /** Null is the workflow without a version. */
  readonly version: number | null;
  /** The number of its instances that aren't finished. */
  readonly unfinished: number;
  /** Whether this process has it. Only a process that has it can run its instances. */
  readonly registered: boolean;
}

export interface CountOptions {
  /** Count every instance, by a full scan of an index. Default: false. */
  readonly exact?: boolean;
}

/** The number of instances, in total and by status. */
export interface InstanceCounts extends Readonly<Record<InstanceStatus | "total", number>> {
  /** The figures that are lower limits, because there are more instances than were counted. Empty if all were. */
  readonly atLeast: readonly (InstanceStatus | "total")[];
}

/** The number of instances of an application. */
export interface AllInstanceCounts {
  readonly total: InstanceCounts;
  /** By workflow name: the workflows of the application, and others that still have instances. */
  readonly workflows: Readonly<Record<string, InstanceCounts>>;
}
