import { type ParsedHookFilter, searchHooks } from "../hooks/search-hooks.ts";
import { RELAY } from "../store/hooks/relay.ts";
import { INSTANCE_STATUSES } from "../store/instances/instance-records.ts";
import { JOB, type JobRecord } from "../store/jobs/job-records.ts";
import type { Store } from "../store/store.ts";
import { isSearch, searchInstances } from "../workflows/instances/lists/search-instances.ts";
import type { BatchItem } from "./job-progress.ts";
import { type InstanceSelection, type StoredRequest, selectHooks, selectInstances } from "./job-request.ts";

/** Some items in order, and the place to continue after; null if there are no more. */
export interface FoundItems<Item> {
  readonly items: readonly Item[];
  readonly continueAfter: string | null;
}

type Part = Pick<JobRecord, "namespace"> & { readonly startedAt: number | null };

/** The next instances of a job, the oldest first. May find fewer than `limit` although there are more. */
export async function findInstances(
  store: Store,
  { namespace, startedAt }: Part,
  request: Extract<StoredRequest, { target: "instances" }>,
  { after, last, limit }: { readonly after: string | null; readonly last: string | null; readonly limit: number },
): Promise<FoundItems<BatchItem>> {
  const { scope, filter } = selectInstances(namespace, request, startedAt);
  const range = { after, order: "oldest", limit } as const;
  const { found, continueAfter } = await searchInstances(store.instances.statements, scope, filter, range);
  const items = found
    .filter(({ ref }) => last === null || ref <= last)
    .map(({ name, id, ref, run }) => ({ name, id, ref, run }));
  const isOver = continueAfter === null || (last !== null && continueAfter >= last);
  return { items, continueAfter: isOver ? null : continueAfter };
}

/** The next hooks of a job, in the order of their ids. May find fewer than `limit` although there are more. */
export async function findHooks(
  store: Store,
  { namespace, startedAt }: Part,
  request: Extract<StoredRequest, { target: "hooks" }>,
  { after, limit }: { readonly after: string | null; readonly limit: number },
): Promise<FoundItems<string>> {
  const filter = selectHooks(request, startedAt);
  const { found, continueAfter } = await searchHooks(store.hooks.statements, namespace, filter, {
    after,
    order: "oldest",
    limit,
  });
  const items = found.filter(({ name }) => takesPart(name, request.action, filter)).map(({ id }) => id);
  return { items, continueAfter };
}

/** The library's own hooks belong to operations that were begun: they are cancelled only by name, and relays and jobs never. */
function takesPart(name: string, action: string, filter: ParsedHookFilter): boolean {
  if (name === RELAY || name === JOB) return false;
  return action !== "cancel" || !name.startsWith("$") || filter.name === name;
}

/** The newest instance, as the place where a job ends; null if there is none. */
export async function findLast(store: Store, { scope }: InstanceSelection): Promise<string | null> {
  const everything = { createdFrom: null, createdBefore: null, finishedFrom: null, finishedBefore: null, labels: [] };
  const range = { after: null, order: "newest", limit: 1 } as const;
  const [newest] = await store.instances.statements.list({
    ...scope,
    ...everything,
    ...range,
    statuses: INSTANCE_STATUSES,
  });
  return newest?.ref ?? null;
}

export interface JobCount {
  readonly matching: number;
  /** Whether counting stopped early: at least this many match. */
  readonly bounded: boolean;
}

const MOST_COUNTED = 10_000;
const COUNTED_AT_ONCE = 1000;
/** Each compares up to `MOST_COMPARED` rows. */
const MOST_SEARCHES = 20;
/** Where each passes only entries of an index, see `endOfPage`. */
const MOST_CHEAP_SEARCHES = 200;

/** Counts what a job would find now: exactly where an index knows the number, else up to a bound. */
export async function countItems(store: Store, namespace: string, request: StoredRequest): Promise<JobCount> {
  if (request.target === "instances") {
    const counted = await countIndexed(store, selectInstances(namespace, request, null));
    if (counted !== null) return { matching: counted, bounded: false };
  }
  const part = { namespace, startedAt: null };
  const find = (after: string | null): Promise<FoundItems<unknown>> => {
    const range = { after, last: null, limit: COUNTED_AT_ONCE };
    return request.target === "instances"
      ? findInstances(store, part, request, range)
      : findHooks(store, part, request, range);
  };
  let [matching, after] = [0, null as string | null];
  const most = readsOnlyEntries(namespace, request) ? MOST_CHEAP_SEARCHES : MOST_SEARCHES;
  for (let searches = 0; searches < most && matching < MOST_COUNTED; searches++) {
    const { items, continueAfter } = await find(after);
    matching += items.length;
    if (continueAfter === null) return { matching, bounded: false };
    after = continueAfter;
  }
  return { matching, bounded: true };
}

function readsOnlyEntries(namespace: string, request: StoredRequest): boolean {
  if (request.target === "hooks") return false;
  const { filter } = selectInstances(namespace, request, null);
  return !isSearch(filter) && filter.labels.length === 0;
}

/** Null if the filter has more conditions than a workflow and statuses. */
async function countIndexed(store: Store, { scope, filter }: InstanceSelection): Promise<number | null> {
  const { labels, createdFrom, createdBefore, finishedFrom, finishedBefore } = filter;
  const times = [createdFrom, createdBefore, finishedFrom, finishedBefore];
  if (isSearch(filter) || labels.length > 0 || times.some((time) => time !== null)) return null;
  const names = scope.name === null ? null : [scope.name];
  const counts = await store.instances.statements.counts(scope.namespace, names, null);
  return counts.reduce((sum, { status, count }) => (filter.statuses.includes(status) ? sum + count : sum), 0);
}
