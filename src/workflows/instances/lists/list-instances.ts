import { decodeCursor, encodeCursor } from "../../../cursor.ts";
import { InvalidInputError } from "../../../errors.ts";
import { checkOptions } from "../../../options.ts";
import type { InstanceRecord, InstanceScope } from "../../../store/instances/instance-records.ts";
import { checkLimit } from "../../views/read-history.ts";
import type { WorkflowRuntime } from "../../workflow-runtime.ts";
import { toSummary } from "../instance-state.ts";
import type { InstanceListOptions, InstancePage } from "../workflow-binding.ts";
import { endOfPage, STRETCHES } from "./end-of-page.ts";
import { FILTER_FIELDS, type ParsedFilter, parseInstanceFilter } from "./instance-filter.ts";
import { isSearch, type SearchRange, searchInstances } from "./search-instances.ts";

const LIST_FIELDS = [...FILTER_FIELDS, "order", "limit", "cursor"];

interface ListedRecords {
  readonly records: readonly InstanceRecord[];
  /** The ref that the next page continues after; null on the last page. */
  readonly continueAfter: string | null;
}

/** One page of a workflow's instances, or of those of all workflows. */
export async function listInstances(
  runtime: WorkflowRuntime,
  name: string | null,
  options: InstanceListOptions = {},
): Promise<InstancePage> {
  const { filter, range } = parseListOptions(options);
  const scope = { namespace: runtime.namespace, name };
  const list = isSearch(filter) ? listFound : listIndexed;
  const { records, continueAfter } = await list(runtime, scope, filter, range);
  return {
    instances: records.map((record) => toSummary(record, runtime)),
    cursor: continueAfter === null ? null : encodeCursor(continueAfter),
  };
}

/** The indexes know the whole filter. The page may end before its limit, see `endOfPage`. */
async function listIndexed(
  { store }: WorkflowRuntime,
  scope: InstanceScope,
  filter: ParsedFilter,
  { limit, ...range }: SearchRange,
): Promise<ListedRecords> {
  const { error: _, idPrefix: _id, version: _version, parentPrefix: _parent, step: _step, ...narrowed } = filter;
  const { statements } = store.instances;
  const records: InstanceRecord[] = [];
  let after = range.after;
  for (const stretch of STRETCHES) {
    const wanted = { ...scope, ...narrowed, ...range, after, limit: limit + 1 - records.length };
    const until = await endOfPage(statements, wanted, stretch);
    records.push(...(await statements.list({ ...wanted, until })));
    if (records.length > limit)
      return { records: records.slice(0, limit), continueAfter: records[limit - 1]?.ref ?? null };
    after = until;
    if (until === null) break;
  }
  return { records, continueAfter: after };
}

/** One more is looked for, to know whether there is another page. */
async function listFound(
  { store }: WorkflowRuntime,
  scope: InstanceScope,
  filter: ParsedFilter,
  { limit, ...range }: SearchRange,
): Promise<ListedRecords> {
  const { statements } = store.instances;
  const { found, continueAfter } = await searchInstances(statements, scope, filter, { ...range, limit: limit + 1 });
  const page = found.slice(0, limit);
  const records = await statements.find(page);
  return {
    // Another instance may have the id by now.
    records: records.filter((record, index) => record !== null && record.ref === page[index]?.ref) as InstanceRecord[],
    continueAfter: found.length > limit ? (page.at(-1)?.ref ?? null) : continueAfter,
  };
}

function parseListOptions(options: InstanceListOptions): {
  readonly filter: ParsedFilter;
  readonly range: SearchRange;
} {
  checkOptions(options, { label: "list", fields: LIST_FIELDS });
  const { order = "newest", limit = 100, cursor } = options;
  const filter = parseInstanceFilter(options);
  if (order !== "newest" && order !== "oldest") {
    throw new InvalidInputError("options.invalid", 'order must be "newest" or "oldest".');
  }
  checkLimit(limit);
  return { filter, range: { after: cursor === undefined ? null : decodeCursor(cursor), order, limit } };
}
