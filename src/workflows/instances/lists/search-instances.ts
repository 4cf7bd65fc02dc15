import { compareRows, type FoundRows } from "../../../store/compare-rows.ts";
import type { InstanceScope, SearchedInstance } from "../../../store/instances/instance-records.ts";
import type { InstanceStatements } from "../../../store/instances/instance-statements.ts";
import { endOfPage } from "./end-of-page.ts";
import type { ParsedFilter } from "./instance-filter.ts";

/** So many ids with the same beginning are found by the ids' own index. */
const MOST_BY_ID = 2000;
const READ_AT_ONCE = 500;

export interface SearchRange {
  readonly after: string | null;
  readonly order: "oldest" | "newest";
  /** How many to find. */
  readonly limit: number;
}

/** Whether more must be compared than what the indexes of lists know. */
export function isSearch({ idPrefix, version, parentPrefix, step, error }: ParsedFilter): boolean {
  return [idPrefix, version, parentPrefix, step, error].some((criterion) => criterion !== null);
}

/** Finds instances by comparing those that the indexes leave, see `compareRows`. */
export async function searchInstances(
  statements: InstanceStatements,
  scope: InstanceScope,
  { error, ...filter }: ParsedFilter,
  { after, order, limit }: SearchRange,
): Promise<FoundRows<SearchedInstance>> {
  if (filter.statuses.length === 0) return { found: [], continueAfter: null };
  const among = await findAmong(statements, scope, filter.idPrefix);
  const until = among === null ? await endOfPage(statements, { ...scope, ...filter, after, order, limit }) : null;
  const search = { ...scope, ...filter, order, until, among, errors: error !== null };
  const read = (from: string | null, atOnce: number) => statements.search({ ...search, after: from, limit: atOnce });
  return compareRows({ error, after, until, limit, atOnce: READ_AT_ONCE, read, placeOf: ({ ref }) => ref });
}

/** The instances whose ids begin like this, by their refs; null if there are many, or if any id will do. */
async function findAmong(
  statements: InstanceStatements,
  scope: InstanceScope,
  idPrefix: string | null,
): Promise<readonly string[] | null> {
  if (idPrefix === null) return null;
  const refs = await statements.findByIdPrefix(scope, idPrefix, MOST_BY_ID + 1);
  return refs.length > MOST_BY_ID ? null : refs;
}
