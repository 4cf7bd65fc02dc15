import type { InstanceStatus } from "../store/instance-records.ts";
import type { CreateArguments, CreateOptions } from "./create-options.ts";
import type { InstanceSummary, WorkflowInstance } from "./instance.ts";
import type { EventPayloads } from "./workflow-event.ts";
import type { AnyWorkflow, ParamsOf, WorkflowEvents, WorkflowOutput, Workflows } from "./workflow-types.ts";

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
  createBatch(batch: readonly CreateOptions<Params>[]): Promise<WorkflowInstance<Output, Events>[]>;
  /** Gives an instance by its id; throws `instance.not_found` if there is none. */
  get(id: string): Promise<WorkflowInstance<Output, Events>>;
  /** One page of instances. */
  list(options?: InstanceListOptions): Promise<InstancePage>;
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
  readonly status?: InstanceStatus;
  /** Created at this time or later. */
  readonly createdFrom?: Date | number;
  /** Created before this time. */
  readonly createdBefore?: Date | number;
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
