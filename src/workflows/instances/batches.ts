import type { EventPayloads } from "../define/workflow-event.ts";
import type { CreateOptions, NeededParams, NewInstance } from "./create-options.ts";
import type { WorkflowInstance } from "./instance.ts";

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
