import { INSTANCE_STATUSES, type InstanceFilter } from "../../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../../store/instances/instance-statements.ts";

/** How many entries of an index are passed. In a list by labels, the row of each is read. */
interface Stretch {
  readonly entries: number;
  readonly labelled: number;
}

/** Of a page: the first is enough where much of what is there matches, which is the usual case. */
export const STRETCHES: readonly Stretch[] = [
  { entries: 500, labelled: 500 },
  { entries: 10_000, labelled: 2500 },
  { entries: 10_000, labelled: 2500 },
];
const ONE_STRETCH: Stretch = { entries: 10_000, labelled: 5000 };

/**
 * How far a page may read: entries are in the order of refs, so a list of those that were created or finished in some time, or
 * of those with a label that are in some state, could pass a million of them and find nothing. Such a page ends with what it
 * has found, and the next one continues here. Null if it may read to the end.
 */
export async function endOfPage(
  statements: Pick<InstanceStatements, "reach">,
  filter: InstanceFilter,
  { entries, labelled }: Stretch = ONE_STRETCH,
): Promise<string | null> {
  const { statuses, labels, createdFrom, createdBefore, finishedFrom, finishedBefore } = filter;
  const byTime = [createdFrom, createdBefore, finishedFrom, finishedBefore].some((time) => time !== null);
  const byLabel = labels.length > 0;
  const byState = statuses.length < INSTANCE_STATUSES.length;
  if (!byTime && !(byLabel && (byState || labels.length > 1))) return null;
  return statements.reach(filter, byLabel ? labelled : entries);
}
