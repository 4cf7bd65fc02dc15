import { INSTANCE_STATUSES, type InstanceCount, type InstanceStatus } from "../store/instance-records.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** How many instances there are, and how many in each status. */
export type InstanceCounts = Readonly<Record<InstanceStatus | "total", number>>;

/** The same for an application. */
export interface AllInstanceCounts {
  readonly total: InstanceCounts;
  /** By the names of workflows: those that the application has, and those that others have left instances of. */
  readonly workflows: Readonly<Record<string, InstanceCounts>>;
}

export async function countInstances(runtime: WorkflowRuntime, name: string): Promise<InstanceCounts> {
  return sum(await runtime.store.instances.statements.counts(runtime.namespace, [name]));
}

export async function countAllInstances(runtime: WorkflowRuntime): Promise<AllInstanceCounts> {
  const counts = await runtime.store.instances.statements.counts(runtime.namespace, null);
  const found = Map.groupBy(counts, ({ name }) => name);
  const names = [...new Set([...runtime.workflows.names, ...found.keys()])];
  return { total: sum(counts), workflows: Object.fromEntries(names.map((name) => [name, sum(found.get(name) ?? [])])) };
}

function sum(counts: readonly InstanceCount[]): InstanceCounts {
  const sums = Object.fromEntries(["total", ...INSTANCE_STATUSES].map((status) => [status, 0])) as Record<
    InstanceStatus | "total",
    number
  >;
  for (const { status, count } of counts) {
    sums[status] += count;
    sums.total += count;
  }
  return sums;
}
