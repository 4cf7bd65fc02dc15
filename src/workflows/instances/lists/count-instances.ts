import { checkOptions, invalidOption } from "../../../options.ts";
import {
  INSTANCE_STATUSES,
  type InstanceCount,
  type InstanceStatus,
} from "../../../store/instances/instance-records.ts";
import { type Labels, parseLabels } from "../../define/labels.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import type { AllInstanceCounts, CountOptions, InstanceCounts } from "../workflow-binding.ts";

/** Of a workflow and a status, so many instances are counted, in a few milliseconds. */
const MOST_COUNTED = 10_000;
/** Of many workflows, fewer each: all workflows together are counted up to this, */
const MOST_OF_ALL = 100_000;
/** but each up to this at least. */
const FEWEST_COUNTED = 1000;
/** The row of each is read. */
const MOST_LABELLED = 10_000;

type Figure = InstanceStatus | "total";
const FIGURES: readonly Figure[] = ["total", ...INSTANCE_STATUSES];

const EVERYTHING = {
  statuses: INSTANCE_STATUSES,
  createdFrom: null,
  createdBefore: null,
  finishedFrom: null,
  finishedBefore: null,
  after: null,
  order: "newest",
  limit: 1,
} as const;

export async function countInstances(
  { store, namespace }: WorkflowRuntime,
  name: string,
  options: CountOptions = {},
): Promise<InstanceCounts> {
  const most = isExact(options) ? Number.POSITIVE_INFINITY : MOST_COUNTED;
  return toCounts(await store.instances.statements.counts(namespace, [name], beyond(most)), most);
}

/** Of all workflows. */
export async function countAllInstances(
  runtime: WorkflowRuntime,
  options: CountOptions = {},
): Promise<AllInstanceCounts> {
  const { store, namespace, workflows } = runtime;
  const shared = Math.floor(MOST_OF_ALL / Math.max(workflows.names.length, 1));
  const bounded = Math.max(Math.min(MOST_COUNTED, shared), FEWEST_COUNTED);
  const most = isExact(options) ? Number.POSITIVE_INFINITY : bounded;
  const counts = await store.instances.statements.counts(namespace, null, beyond(most));
  return toAllCounts(runtime, counts, (found) => toCounts(found, most));
}

/** Of all workflows, and only instances that have all of these labels: the newest, if there are many. */
export async function countLabelledInstances(runtime: WorkflowRuntime, labels: Labels): Promise<AllInstanceCounts> {
  const { store, namespace } = runtime;
  const { statements } = store.instances;
  const wanted = parseLabels(labels, "options.invalid");
  const newest = { ...EVERYTHING, namespace, name: null, labels: wanted };
  const from = await statements.reach(newest, MOST_LABELLED);
  const counts = await statements.labelledCounts(namespace, wanted, from);
  const isPart = from !== null;
  return toAllCounts(runtime, counts, (found) => {
    const counted = toCounts(found, Number.POSITIVE_INFINITY);
    return isPart ? { ...counted, atLeast: FIGURES } : counted;
  });
}

function toAllCounts(
  { workflows }: WorkflowRuntime,
  counts: readonly InstanceCount[],
  toFigures: (found: readonly InstanceCount[]) => InstanceCounts,
): AllInstanceCounts {
  const found = Map.groupBy(counts, ({ name }) => name);
  const names = [...new Set([...workflows.names, ...found.keys()])];
  const each = names.map((name) => [name, toFigures(found.get(name) ?? [])] as const);
  return { total: addCounts(each.map(([, one]) => one)), workflows: Object.fromEntries(each) };
}

function isExact(options: CountOptions): boolean {
  checkOptions(options, { label: "counts", fields: ["exact"] });
  const { exact = false } = options;
  if (typeof exact !== "boolean") throw invalidOption("exact must be true or false");
  return exact;
}

/** One more than what is shown, to know whether there are more; null counts all. */
function beyond(most: number): number | null {
  return most === Number.POSITIVE_INFINITY ? null : most + 1;
}

/** `most` is how many of each status are shown. */
export function toCounts(found: readonly InstanceCount[], most: number): InstanceCounts {
  const sums = zeros();
  for (const { status, count } of found) sums[status] += count;
  const atLeast: Figure[] = INSTANCE_STATUSES.filter((status) => sums[status] > most);
  if (atLeast.length > 0) atLeast.unshift("total");
  for (const status of INSTANCE_STATUSES) {
    sums[status] = Math.min(sums[status], most);
    sums.total += sums[status];
  }
  return { ...sums, atLeast };
}

/** The sums of the figures of several workflows, or of parts of one. */
export function addCounts(parts: readonly InstanceCounts[]): InstanceCounts {
  const sums = zeros();
  const figures = Object.keys(sums) as Figure[];
  for (const part of parts) for (const figure of figures) sums[figure] += part[figure];
  return { ...sums, atLeast: figures.filter((figure) => parts.some(({ atLeast }) => atLeast.includes(figure))) };
}

function zeros(): Record<Figure, number> {
  return Object.fromEntries(FIGURES.map((figure) => [figure, 0])) as Record<Figure, number>;
}
