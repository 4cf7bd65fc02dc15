import { compareRows, type FoundRows } from "../store/compare-rows.ts";
import type { HookFilter, HookSearch, SearchedHook } from "../store/hooks/hook-records.ts";
import type { HookStatements } from "../store/hooks/hook-statements.ts";

/** What a caller asks for. Null means any; the text of an error is in lower case. */
export interface ParsedHookFilter
  extends Pick<HookSearch, "status" | "name" | "idPrefix" | "createdFrom" | "createdBefore"> {
  readonly error: string | null;
}

/** Whether more must be compared than what the indexes of lists know. */
export function isHookSearch({ status, name, idPrefix, createdFrom, createdBefore, error }: ParsedHookFilter): boolean {
  const criteria = [name, idPrefix, createdFrom, createdBefore, error];
  return criteria.some((criterion) => criterion !== null) || (status !== null && status !== "failed");
}

/** Finds hooks by comparing those that the indexes leave, see `compareRows`. */
export function searchHooks(
  statements: HookStatements,
  namespace: string,
  { error, ...filter }: ParsedHookFilter,
  { after, order, limit }: Pick<HookFilter, "after" | "order" | "limit">,
): Promise<FoundRows<SearchedHook>> {
  const read = (from: string | null, atOnce: number) =>
    statements.search({ ...filter, namespace, after: from, order, limit: atOnce, errors: error !== null });
  return compareRows({ error, after, limit, read, placeOf: ({ id }) => id });
}
