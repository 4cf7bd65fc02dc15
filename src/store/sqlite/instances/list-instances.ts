import {
  FINISHED_STATUSES,
  type InstanceCount,
  type InstanceFilter,
  type InstanceScope,
  type InstanceSearch,
  type InstanceStatus,
  UNFINISHED_STATUSES,
} from "../../instances/instance-records.ts";
import { toInstanceCount } from "../../instances/instance-rows.ts";
import { compareText, endOfPrefix } from "../../text-order.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import {
  COUNT_FINISHED_INSTANCES,
  COUNT_HELD_INSTANCES,
  COUNT_WAITING_INSTANCES,
  GET_INSTANCE_BY_REF,
  listFinishedRefs,
  listHeldRefs,
  listRefsByLabel,
  listWaitingRefs,
  reachOfFinished,
  reachOfLabel,
  reachOfWaiting,
  WORKFLOW_NAMES,
} from "../sql/instances-read.ts";
import { COMPARE_INSTANCES, FIND_REFS_BY_ID, filterRefs } from "../sql/instances-search.ts";

type Row = Record<string, unknown>;

const FINISHED: readonly InstanceStatus[] = FINISHED_STATUSES;
const NO_LIMIT = -1;

/** One page in the order of refs, which is that of time: a few of each workflow and each status, and of those the first. */
export function listInstances(driver: SqliteDriver, filter: InstanceFilter): Row[] {
  return listRefs(driver, filter).flatMap((ref) => driver.all(GET_INSTANCE_BY_REF, [ref]));
}

/** See `InstanceStatements.reach`. The workflows share the entries. */
export function reachOfList(driver: SqliteDriver, filter: InstanceFilter, entries: number): string | null {
  const { namespace, name, statuses, labels, after, order } = filter;
  const shape = { order, paged: after !== null };
  const names = name === null ? workflowNames(driver, namespace) : [name];
  const each = Math.max(Math.floor(entries / names.length), 1);
  const [label] = labels;
  const reached = names.flatMap((one) => {
    const parameters = [namespace, one, each, after];
    if (label !== undefined) return driver.all(reachOfLabel(shape), [...parameters, ...label]);
    return statuses.flatMap((status) => {
      const reachOf = FINISHED.includes(status) ? reachOfFinished : reachOfWaiting;
      return driver.all(reachOf(shape), [...parameters, status]);
    });
  });
  const refs = reached.map((row) => row.ref as string).sort(compareText);
  return (order === "oldest" ? refs[0] : refs.at(-1)) ?? null;
}

/** Compares the instances of one page, or some of them. */
export function searchInstances(driver: SqliteDriver, search: InstanceSearch): Row[] {
  const { among, idPrefix, version, parentPrefix, step, errors } = search;
  const refs = among === null ? listRefs(driver, search) : filterAmong(driver, search, among);
  const criteria = [idPrefix, version, parentPrefix, step, Number(errors)];
  const compared = driver.all(COMPARE_INSTANCES, [JSON.stringify(refs), ...criteria]);
  const rows = new Map(compared.map((row) => [row.ref as string, row]));
  const inOrder = refs.map((ref) => rows.get(ref)).filter((row) => row !== undefined);
  return inOrder.map((row) => ({ ...row, error: row.matches ? row.error : null }));
}

export function findRefsByIdPrefix(
  driver: SqliteDriver,
  { namespace, name }: InstanceScope,
  prefix: string,
  limit: number,
): string[] {
  const refs: string[] = [];
  for (const one of name === null ? workflowNames(driver, namespace) : [name]) {
    const range = [namespace, one, prefix, endOfPrefix(prefix), limit - refs.length];
    refs.push(...driver.all(FIND_REFS_BY_ID, range).map((row) => row.ref as string));
    if (refs.length >= limit) break;
  }
  return refs;
}

function listRefs(driver: SqliteDriver, filter: InstanceFilter): string[] {
  const { namespace, name, limit, order } = filter;
  const names = name === null ? workflowNames(driver, namespace) : [name];
  const refs = names.flatMap((one) => listRefsOf(driver, filter, one)).sort(compareText);
  if (order === "newest") refs.reverse();
  return refs.slice(0, limit);
}

function filterAmong(driver: SqliteDriver, search: InstanceSearch, among: readonly string[]): string[] {
  const { namespace, name, statuses, labels, after, order, limit } = search;
  const times = [search.createdFrom, search.createdBefore, search.finishedFrom, search.finishedBefore];
  const lists = [among, statuses, labels].map((list) => JSON.stringify(list));
  const statement = filterRefs({ order, paged: after !== null });
  return driver.all(statement, [namespace, name, limit, after, ...times, ...lists]).map((row) => row.ref as string);
}

export function workflowNames(driver: SqliteDriver, namespace: string): string[] {
  return driver.all(WORKFLOW_NAMES, [namespace]).map((row) => row.name as string);
}

function listRefsOf(driver: SqliteDriver, filter: InstanceFilter, name: string): string[] {
  const { namespace, statuses, labels, createdFrom, createdBefore, finishedFrom, finishedBefore, after, limit } =
    filter;
  const { until = null } = filter;
  const shape = { order: filter.order, paged: after !== null, ended: until !== null };
  const end = until === null ? [] : [until];
  const times = [createdFrom, createdBefore, finishedFrom, finishedBefore];
  const parameters = [namespace, name, limit, after, ...times];
  const { finished = [], unfinished = [] } = Object.groupBy(statuses, (status) =>
    FINISHED.includes(status) ? "finished" : "unfinished",
  );
  const [first, ...others] = labels;
  const rows =
    first === undefined
      ? [
          ...finished.flatMap((status) => driver.all(listFinishedRefs(shape), [...parameters, status, ...end])),
          ...unfinished.flatMap((status) => driver.all(listWaitingRefs(shape), [...parameters, status, ...end])),
          ...(unfinished.length === 0
            ? []
            : driver.all(listHeldRefs(shape), [...parameters, JSON.stringify(unfinished), ...end])),
        ]
      : driver.all(listRefsByLabel(shape), [
          ...parameters,
          JSON.stringify(statuses),
          ...first,
          JSON.stringify(others),
          ...end,
        ]);
  return rows.map((row) => row.ref as string);
}

/** Each status up to `most`; see `InstanceStatements.counts`. */
export function countInstances(
  driver: SqliteDriver,
  namespace: string,
  names: readonly string[] | null,
  most: number | null,
): InstanceCount[] {
  const limit = most ?? NO_LIMIT;
  const found = (names ?? workflowNames(driver, namespace)).flatMap((name) => [
    ...driver.all(COUNT_FINISHED_INSTANCES, [namespace, name, limit, JSON.stringify(FINISHED_STATUSES)]),
    ...driver.all(COUNT_WAITING_INSTANCES, [namespace, name, limit, JSON.stringify(UNFINISHED_STATUSES)]),
  ]);
  const held = driver.all(COUNT_HELD_INSTANCES, [namespace]).map(toInstanceCount);
  return [...found.map(toInstanceCount), ...held.filter(({ name }) => names === null || names.includes(name))];
}
