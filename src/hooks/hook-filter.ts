import { InvalidInputError } from "../errors.ts";
import { parseSearchedText, parseTime } from "../options.ts";
import { HOOK_STATUSES, type HookStatus } from "../store/hooks/hook-records.ts";
import { checkStoredName } from "./names.ts";
import type { ParsedHookFilter } from "./search-hooks.ts";

/** Which hooks: those that meet all of these conditions. */
export interface HookFilterOptions {
  readonly status?: HookStatus;
  readonly name?: string;
  /** Only hooks whose ids begin with this. */
  readonly idPrefix?: string;
  /** Only hooks that were triggered at this time or later. */
  readonly createdFrom?: Date | number;
  /** Only hooks that were triggered before this time. */
  readonly createdBefore?: Date | number;
  /** Only hooks with this text in the name, message or code of the error of their last attempt, in upper or lower case. */
  readonly error?: string;
}

export const FILTER_FIELDS = ["status", "name", "idPrefix", "createdFrom", "createdBefore", "error"];

/** Checks which hooks a caller asks for. */
export function parseHookFilter(options: HookFilterOptions): ParsedHookFilter {
  const { status, name, idPrefix, createdFrom, createdBefore, error } = options;
  if (status !== undefined && !HOOK_STATUSES.includes(status)) {
    throw new InvalidInputError("options.invalid", `status must be one of ${HOOK_STATUSES.join(", ")}.`);
  }
  return {
    status: status ?? null,
    name: name === undefined ? null : checkStoredName(name, "The name of a hook"),
    idPrefix: parseSearchedText(idPrefix, "idPrefix"),
    createdFrom: parseTime(createdFrom, "createdFrom"),
    createdBefore: parseTime(createdBefore, "createdBefore"),
    error: parseSearchedText(error, "error")?.toLowerCase() ?? null,
  };
}
