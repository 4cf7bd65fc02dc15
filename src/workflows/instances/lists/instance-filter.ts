import { InvalidInputError } from "../../../errors.ts";
import { checkOptions, invalidOption, parseSearchedText, parseTime } from "../../../options.ts";
import {
  FINISHED_STATUSES,
  INSTANCE_STATUSES,
  type InstanceCriteria,
  type InstanceFilter,
  type InstanceStatus,
} from "../../../store/instances/instance-records.ts";
import { parseLabels } from "../../define/labels.ts";
import type { InstanceFilterOptions } from "../workflow-binding.ts";

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"] as const;
export const FILTER_FIELDS = ["status", "labels", ...TIMES, "idPrefix", "version", "parent", "step", "error"];

/** Only these have an error. */
const FAILED: readonly InstanceStatus[] = ["errored", "diverged"];
/** Only these have a time at which they finished. */
const FINISHED: readonly InstanceStatus[] = FINISHED_STATUSES;

/** What the indexes of lists know. */
type Narrowed = Omit<InstanceFilter, "namespace" | "name" | "after" | "order" | "limit">;

/** A filter that was checked. */
export interface ParsedFilter extends Narrowed, InstanceCriteria {
  /** In lower case. */
  readonly error: string | null;
}

/** Checks what instances a caller asks for. */
export function parseInstanceFilter(options: InstanceFilterOptions): ParsedFilter {
  const { status = INSTANCE_STATUSES, idPrefix, version, parent, step } = options;
  const statuses = parseStatuses(status, "status", "options.invalid");
  const labels = parseLabels(options.labels, "options.invalid");
  const [createdFrom, createdBefore, finishedFrom, finishedBefore] = TIMES.map((time) =>
    parseTime(options[time], time),
  ) as [number | null, number | null, number | null, number | null];
  const error = parseSearchedText(options.error, "error")?.toLowerCase() ?? null;
  const byEnd = finishedFrom !== null || finishedBefore !== null;
  return {
    // Those that can't be meant would be read in vain.
    statuses: statuses.filter((one) => (error === null || FAILED.includes(one)) && (!byEnd || FINISHED.includes(one))),
    labels,
    createdFrom,
    createdBefore,
    finishedFrom,
    finishedBefore,
    idPrefix: parseSearchedText(idPrefix, "idPrefix"),
    version: parseVersion(version),
    parentPrefix: parseParent(parent),
    step: parseSearchedText(step, "step"),
    error,
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

/** 0 is stored for the workflow without a version. */
function parseVersion(version: unknown): number | null {
  if (version === undefined) return null;
  if (version === null) return 0;
  if (typeof version === "number" && Number.isInteger(version) && version >= 1 && version <= 2 ** 31 - 1)
    return version;
  throw invalidOption("version must be a whole number, or null for the workflow without a version");
}

/** The step that created an instance is stored as a JSON array that begins with the workflow and the id of the parent. */
function parseParent(parent: unknown): string | null {
  if (parent === undefined) return null;
  checkOptions(parent, { label: "parent", fields: ["workflowName", "id"] });
  const { workflowName, id } = parent as Record<string, unknown>;
  const texts = [
    parseSearchedText(workflowName, "The workflowName of parent"),
    parseSearchedText(id, "The id of parent"),
  ];
  if (texts.includes(null)) throw invalidOption("parent must have a workflowName and an id");
  return `${JSON.stringify(texts).slice(0, -1)},`;
}
