import { decodeCursor, encodeCursor } from "../../cursor.ts";
import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import {
  INSTANCE_STATUSES,
  type InstanceCount,
  type InstanceFilter,
  type InstanceStatus,
} from "../../store/instances/instance-records.ts";
import { timeOfDate } from "../../values/index.ts";
import { parseLabels } from "../define/labels.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { toSummary } from "./instance-state.ts";
import { checkLimit } from "./read-history.ts";
import type { AllInstanceCounts, InstanceCounts, InstanceListOptions, InstancePage } from "./workflow-binding.ts";

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"] as const;
const LIST_FIELDS = ["status", "labels", ...TIMES, "order", "limit", "cursor"];

/** One page of a workflow's instances, or of those of all workflows. */
export async function listInstances(
  runtime: WorkflowRuntime,
  name: string | null,
  options: InstanceListOptions = {},
): Promise<InstancePage> {
  const filter = parseListOptions(options);
  const { limit } = filter;
  const { statements } = runtime.store.instances;
  const records = await statements.list({ ...filter, namespace: runtime.namespace, name, limit: limit + 1 });
  const page = records.slice(0, limit);
  const last = page.at(-1);
  return {
    instances: page.map((record) => toSummary(record, runtime)),
    cursor: records.length > limit && last !== undefined ? encodeCursor(last.ref) : null,
  };
}

/** Checks one status or several. */
export function parseStatuses(value: unknown, label: string, code: string): readonly InstanceStatus[] {
  const statuses: unknown[] = Array.isArray(value) ? value : [value];
  const known: readonly unknown[] = INSTANCE_STATUSES;
  if (statuses.length > 0 && statuses.every((status) => known.includes(status))) {
    return [...new Set(statuses)] as InstanceStatus[];
  }
  throw new InvalidInputError(
    code,
    `${label} must be one of ${INSTANCE_STATUSES.join(", ")}, or an array of some of them.`,
  );
}

function parseListOptions(options: InstanceListOptions): Omit<InstanceFilter, "namespace" | "name"> {
  checkOptions(options, { label: "list", fields: LIST_FIELDS });
  const { status = INSTANCE_STATUSES, order = "newest", limit = 100, cursor } = options;
  const statuses = parseStatuses(status, "status", "options.invalid");
  const labels = parseLabels(options.labels, "options.invalid");
  if (order !== "newest" && order !== "oldest") throw invalid('order must be "newest" or "oldest"');
  checkLimit(limit);
  const [createdFrom, createdBefore, finishedFrom, finishedBefore] = TIMES.map((time) =>
    parseTime(options[time], time),
  ) as [number | null, number | null, number | null, number | null];
  const after = cursor === undefined ? null : decodeCursor(cursor);
  return { statuses, labels, createdFrom, createdBefore, finishedFrom, finishedBefore, after, order, limit };
}

function parseTime(value: Date | number | undefined, label: string): number | null {
  if (value === undefined) return null;
  const time = timeOfDate(value) ?? value;
  if (typeof time === "number" && Number.isSafeInteger(Math.round(time))) return Math.round(time);
  throw invalid(`${label} must be a Date, or milliseconds since the epoch`);
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("options.invalid", `${problem}.`);
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
