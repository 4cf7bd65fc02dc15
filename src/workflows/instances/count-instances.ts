import { INSTANCE_STATUSES, type InstanceCount, type InstanceStatus } from "../../store/instances/instance-records.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { AllInstanceCounts, InstanceCounts } from "./instance-counts.ts";

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
