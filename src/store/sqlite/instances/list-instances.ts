import type { InstanceFilter, InstanceStatus } from "../../instances/instance-records.ts";
import { compareText } from "../../text-order.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import {
  GET_INSTANCE_BY_REF,
  listFinishedRefs,
  listRefsByLabel,
  listUnfinishedRefs,
  WORKFLOW_NAMES,
} from "../sql/instances-read.ts";

type Row = Record<string, unknown>;

const FINISHED: readonly InstanceStatus[] = ["complete", "errored", "terminated"];

/** One page in the order of refs, which is that of time: a few of each workflow and each status, and of those the first. */
export function listInstances(driver: SqliteDriver, filter: InstanceFilter): Row[] {
  const { namespace, name, limit, order } = filter;
  const names = name === null ? workflowNames(driver, namespace) : [name];
  const refs = names.flatMap((one) => listRefs(driver, filter, one)).sort(compareText);
  if (order === "newest") refs.reverse();
  return refs.slice(0, limit).flatMap((ref) => driver.all(GET_INSTANCE_BY_REF, [ref]));
}

export function workflowNames(driver: SqliteDriver, namespace: string): string[] {
  return driver.all(WORKFLOW_NAMES, [namespace]).map((row) => row.name as string);
}

function listRefs(driver: SqliteDriver, filter: InstanceFilter, name: string): string[] {
  const { namespace, statuses, labels, createdFrom, createdBefore, finishedFrom, finishedBefore, after, limit } =
    filter;
  const shape = { order: filter.order, paged: after !== null };
  const times = [createdFrom, createdBefore, finishedFrom, finishedBefore];
  const parameters = [namespace, name, limit, after, ...times];
  const { finished = [], unfinished = [] } = Object.groupBy(statuses, (status) =>
    FINISHED.includes(status) ? "finished" : "unfinished",
  );
  const [first, ...others] = labels;
  const rows =
    first === undefined
      ? [
          ...finished.flatMap((status) => driver.all(listFinishedRefs(shape), [...parameters, status])),
          ...driver.all(listUnfinishedRefs(shape), [...parameters, JSON.stringify(unfinished)]),
        ]
      : driver.all(listRefsByLabel(shape), [...parameters, JSON.stringify(statuses), ...first, JSON.stringify(others)]);
  return rows.map((row) => row.ref as string);
}
