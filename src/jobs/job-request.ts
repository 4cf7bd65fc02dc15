import { InvalidInputError } from "../errors.ts";
import { FILTER_FIELDS as HOOK_FIELDS, type HookFilterOptions, parseHookFilter } from "../hooks/hook-filter.ts";
import type { ParsedHookFilter } from "../hooks/search-hooks.ts";
import { isWorkflowName } from "../names.ts";
import { checkOptions, invalidOption } from "../options.ts";
import type { HookStatus } from "../store/hooks/hook-records.ts";
import {
  INSTANCE_STATUSES,
  type InstanceScope,
  type InstanceStatus,
  UNFINISHED_STATUSES,
} from "../store/instances/instance-records.ts";
import type { HookAction } from "../store/jobs/job-records.ts";
import { timeOfDate } from "../values/index.ts";
import type { Labels } from "../workflows/define/labels.ts";
import { checkRestartPoint, type RestartPoint } from "../workflows/instances/kept-entries.ts";
import {
  FILTER_FIELDS as INSTANCE_FIELDS,
  type ParsedFilter,
  parseInstanceFilter,
} from "../workflows/instances/lists/instance-filter.ts";
import type { InstanceFilterOptions } from "../workflows/instances/workflow-binding.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";

/** What a job can do to instances. `retry` runs the failed steps of errored instances again. */
export const INSTANCE_ACTIONS = ["pause", "resume", "terminate", "restart", "retry", "delete"] as const;
export const HOOK_ACTIONS = ["redrive", "discard", "cancel"] as const satisfies readonly HookAction[];

export type InstanceJobAction = (typeof INSTANCE_ACTIONS)[number];
export type HookJobAction = HookAction;

/** The filter of a list. For everything: `{ all: true }`. */
export interface JobInstanceFilter extends InstanceFilterOptions {
  /** The key or the name of a workflow. Default: all workflows. */
  readonly workflow?: string;
  /** Must be true if there is no other condition. */
  readonly all?: boolean;
}

/** The filter of a list. For everything: `{ all: true }`. */
export interface JobHookFilter extends HookFilterOptions {
  /** Must be true if there is no other condition. */
  readonly all?: boolean;
}

/** How the action is done, as with one instance. */
export interface JobOptions {
  /** For `terminate`: runs the rollbacks first. */
  readonly rollback?: boolean;
  /** For `restart`: keeps the results of the steps before this one. */
  readonly from?: RestartPoint;
  /** For `restart`: the newest version that the worker has. */
  readonly version?: "newest";
}

export interface InstanceJobRequest {
  readonly action: InstanceJobAction;
  readonly instances: JobInstanceFilter;
  readonly options?: JobOptions;
}

export interface HookJobRequest {
  readonly action: HookJobAction;
  readonly hooks: JobHookFilter;
}

/** What a job does, and to which instances or hooks. */
export type JobRequest = InstanceJobRequest | HookJobRequest;

/** A request as it is stored: it was checked, and has no dates. */
export type StoredRequest =
  | {
      readonly action: InstanceJobAction;
      readonly target: "instances";
      readonly filter: Omit<JobInstanceFilter, "all">;
      readonly options: JobOptions;
      /** The labels of the instances that its sender sees; null if it sees all. */
      readonly within: Labels | null;
    }
  | {
      readonly action: HookJobAction;
      readonly target: "hooks";
      readonly filter: Omit<JobHookFilter, "all">;
      readonly options: Record<string, never>;
      readonly within: null;
    };

type Of<Target extends StoredRequest["target"]> = Extract<StoredRequest, { target: Target }>;

const OPTIONS: Partial<Record<InstanceJobAction, readonly string[]>> = {
  terminate: ["rollback"],
  restart: ["from", "version"],
};

/** To others, these actions do nothing. */
export const STATUSES_FOR_ACTION: Readonly<Record<InstanceJobAction, readonly InstanceStatus[]>> = {
  pause: UNFINISHED_STATUSES,
  resume: ["paused", "waitingForPause", "diverged"],
  terminate: UNFINISHED_STATUSES,
  restart: INSTANCE_STATUSES,
  retry: ["errored"],
  delete: INSTANCE_STATUSES,
};

/** The first is the default. */
export const HOOK_STATUSES_FOR_ACTION: Readonly<Record<HookJobAction, readonly HookStatus[]>> = {
  redrive: ["failed"],
  discard: ["failed", "completed"],
  cancel: ["pending", "processing"],
};

/** Checks what a caller asks for. `within`: the labels of the instances that it sees. */
export function parseJobRequest(runtime: WorkflowRuntime, given: unknown, within: Labels | null = null): StoredRequest {
  checkOptions(given, { label: "A job", fields: ["action", "instances", "hooks", "options"] });
  const { action, instances, hooks, options } = given as Record<string, unknown>;
  if ((instances === undefined) === (hooks === undefined)) throw invalidOption("A job is for instances or for hooks");
  if (instances === undefined) return parseHookJob(action, hooks, options, within);
  checkAction(action, INSTANCE_ACTIONS, "instances");
  const fields = OPTIONS[action] ?? [];
  const filter = parseFilter(instances, ["workflow", ...INSTANCE_FIELDS]) as JobInstanceFilter;
  const { workflow, ...criteria } = filter;
  parseInstanceFilter(criteria);
  const stored = workflow === undefined ? {} : { workflow: nameOf(runtime, workflow) };
  return {
    action,
    target: "instances",
    filter: { ...stored, ...criteria },
    options: parseJobOptions(options ?? {}, action, fields, runtime.workflows.settings.maxStepName),
    within,
  };
}

function parseHookJob(action: unknown, hooks: unknown, options: unknown, within: Labels | null): StoredRequest {
  checkAction(action, HOOK_ACTIONS, "hooks");
  if (options !== undefined) throw invalidOption(`${action} takes no options`);
  if (within !== null) throw new InvalidInputError("options.invalid", "Hooks have no labels.");
  const filter = parseFilter(hooks, HOOK_FIELDS) as JobHookFilter;
  parseHookFilter(filter);
  const [first] = HOOK_STATUSES_FOR_ACTION[action];
  const { status = first } = filter;
  if (status === undefined || !HOOK_STATUSES_FOR_ACTION[action].includes(status)) {
    throw invalidOption(
      `${action} is for hooks that are ${HOOK_STATUSES_FOR_ACTION[action].join(" or ")}, so it finds none that are ${status}`,
    );
  }
  return { action, target: "hooks", filter: { ...filter, status }, options: {}, within: null };
}

function checkAction<Action extends string>(
  action: unknown,
  known: readonly Action[],
  target: string,
): asserts action is Action {
  if ((known as readonly unknown[]).includes(action)) return;
  throw invalidOption(`The action of a job for ${target} must be one of ${known.join(", ")}`);
}

/** Without dates. An empty filter may be a mistake, so everything must be asked for by name. */
function parseFilter(filter: unknown, fields: readonly string[]): object {
  checkOptions(filter, { label: "The filter of a job", fields: [...fields, "all"] });
  const { all, ...conditions } = filter as Record<string, unknown>;
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined);
  if (all !== undefined && typeof all !== "boolean") throw invalidOption("all must be true or false");
  if (given.length > 0 === (all !== true)) {
    return Object.fromEntries(given.map(([field, value]) => [field, timeOfDate(value) ?? value]));
  }
  throw new InvalidInputError(
    "job.filter_required",
    given.length > 0
      ? "The filter of a job has conditions and `all: true`: leave one of them out."
      : "The filter of a job is empty: give a condition, or `all: true` for everything.",
  );
}

function nameOf({ workflows }: WorkflowRuntime, workflow: unknown): string {
  const name = typeof workflow === "string" ? (workflows.findText(workflow)?.name ?? workflow) : null;
  if (isWorkflowName(name)) return name;
  throw invalidOption("workflow must be the key or the name of a workflow");
}

function parseJobOptions(
  options: unknown,
  action: InstanceJobAction,
  fields: readonly string[],
  maxStepName: number,
): JobOptions {
  checkOptions(options, { label: `The options of ${action}`, fields });
  const { rollback, from, version } = options as Record<string, unknown>;
  if (rollback !== undefined && typeof rollback !== "boolean") throw invalidOption("rollback must be true or false");
  if (version !== undefined && version !== "newest") throw invalidOption('version must be "newest", or be left out');
  return {
    ...(rollback === undefined ? {} : { rollback }),
    ...(from === undefined ? {} : { from: checkRestartPoint(from, maxStepName) }),
    ...(version === undefined ? {} : { version }),
  };
}

/** Which instances a job looks for. */
export interface InstanceSelection {
  readonly scope: InstanceScope;
  readonly filter: ParsedFilter;
}

/** `until`: only instances that were created up to this time. */
export function selectInstances(namespace: string, request: Of<"instances">, until: number | null): InstanceSelection {
  const { workflow = null, ...criteria } = request.filter;
  const filter = parseInstanceFilter(criteria);
  const own = Object.entries(request.within ?? {});
  const isOwn = ([key, value]: readonly [string, string]) => own.some((pair) => pair[0] === key && pair[1] === value);
  return {
    scope: { namespace, name: workflow },
    filter: {
      ...filter,
      statuses: filter.statuses.filter((status) => STATUSES_FOR_ACTION[request.action].includes(status)),
      labels: [...filter.labels.filter((pair) => !isOwn(pair)), ...own],
      createdBefore: endOf(filter.createdBefore, until),
    },
  };
}

/** The same for hooks. */
export function selectHooks({ filter }: Of<"hooks">, until: number | null): ParsedHookFilter {
  const parsed = parseHookFilter(filter);
  return { ...parsed, createdBefore: endOf(parsed.createdBefore, until) };
}

function endOf(createdBefore: number | null, until: number | null): number | null {
  if (until === null) return createdBefore;
  return Math.min(createdBefore ?? Number.POSITIVE_INFINITY, until + 1);
}
