import type { InstanceStatus } from "../../store/instances/instance-records.ts";
import type { Labels } from "../define/labels.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { AnyWorkflow, ParamsOf, WorkflowEvents, WorkflowOutput, Workflows } from "../define/workflow-types.ts";
import type {
  BatchOptions,
  CreateArguments,
  CreatedBatch,
  DeletedBatch,
  NewInstance,
  RestartArguments,
  RestartedInstance,
} from "./create-options.ts";
import type { InstanceSummary, WorkflowInstance } from "./instance.ts";

/** A workflow, for those who create and look after its instances. */
export interface WorkflowBinding<Params, Output, Events extends EventPayloads> {
  /**
   * Creates an instance, which starts at once. Resolves when it is stored.
   *
   * @example
   * const order = await app.workflows.checkout.create({ id: "order-1", params: { total: 12 } });
   */
  create(...rest: CreateArguments<Params>): Promise<WorkflowInstance<Output, Events>>;
  /** Creates at most 100 instances at once. Ids that exist are skipped: gives the instances that are new. */
  createBatch(batch: readonly NewInstance<Params>[]): Promise<WorkflowInstance<Output, Events>[]>;
  /**
   * The same, and tells what was wrong with the others: an id that exists is an error of its own, as is what `create` would refuse.
   *
   * @example
   * const { created, errors } = await app.workflows.checkout.createBatch({ count: 10, params: { total: 12 } });
   */
  createBatch(batch: BatchOptions<Params>): Promise<CreatedBatch<Output, Events>>;
  /**
   * Makes sure that an instance runs (again): creates it if there is none, restarts it if it is finished (or in a state that `when`
   * names), and otherwise leaves it alone. Tells which. Of several who ask at the same time, one restarts it.
   *
   * @example
   * const { outcome } = await app.workflows.report.restartOrCreate({ id: "daily" });
   */
  restartOrCreate(...rest: RestartArguments<Params>): Promise<RestartedInstance<Output, Events>>;
  /** Deletes at most 100 instances with their histories, whatever their state. */
  deleteBatch(ids: readonly string[]): Promise<DeletedBatch>;
  /** Gives an instance by its id; throws `instance.not_found` if there is none. */
  get(id: string): Promise<WorkflowInstance<Output, Events>>;
  /** One page of instances. */
  list(options?: InstanceListOptions): Promise<InstancePage>;
  /** How many there are in each status: exact, by reading an index from end to end. */
  counts(): Promise<InstanceCounts>;
}

export type BindingOf<Workflow> = WorkflowBinding<
  ParamsOf<Workflow>,
  WorkflowOutput<Workflow>,
  WorkflowEvents<Workflow>
>;

export type TypedBindings<Registry extends Workflows> = { readonly [Key in keyof Registry]: BindingOf<Registry[Key]> };

/** The workflows of an application, where their types aren't known. */
export type WorkflowBindings = Readonly<Record<string, BindingOf<AnyWorkflow>>>;

export interface InstanceListOptions {
  /** One status, or several. */
  readonly status?: InstanceStatus | readonly InstanceStatus[];
  /** Only those that have all of these. */
  readonly labels?: Labels;
  /** Created at this time or later. */
  readonly createdFrom?: Date | number;
  /** Created before this time. */
  readonly createdBefore?: Date | number;
  /** Finished at this time or later. */
  readonly finishedFrom?: Date | number;
  /** Finished before this time. */
  readonly finishedBefore?: Date | number;
  /** By the time of creation. Default: `newest`. */
  readonly order?: "newest" | "oldest";
  /** From 1 to 1000. Default: 100. */
  readonly limit?: number;
  /** Where the page before ended. */
  readonly cursor?: string;
}

export interface InstancePage {
  readonly instances: readonly InstanceSummary[];
  /** For the next page; null on the last. */
  readonly cursor: string | null;
}

/** How many instances there are, and how many in each status. */
export type InstanceCounts = Readonly<Record<InstanceStatus | "total", number>>;

/** The same for an application. */
export interface AllInstanceCounts {
  readonly total: InstanceCounts;
  /** By the names of workflows: those that the application has, and those that others have left instances of. */
  readonly workflows: Readonly<Record<string, InstanceCounts>>;
}
