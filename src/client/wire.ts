import { InvalidInputError } from "../errors.ts";
import type { HookSummary } from "../hooks/durable-hooks.ts";
import type { ActivityReport } from "../monitoring/activity-report.ts";
import type { Explanation, WaitingReason } from "../monitoring/explanation.ts";
import type { Health } from "../monitoring/health.ts";
import type { InstanceInLine, LinePage, LineSummary } from "../monitoring/list-lines.ts";
import type { WorkerSummary } from "../monitoring/list-workers.ts";
import type { Metrics } from "../monitoring/metrics.ts";
import { checkOptions } from "../options.ts";
import type { ListedSubject } from "../subjects/subject-state.ts";
import { decodeValue, encodeValue } from "../values/index.ts";
import type {
  InstanceSchedule,
  InstanceState,
  InstanceSummary,
  SentEvent,
  UnreceivedEvent,
  UnreceivedEvents,
} from "../workflows/instances/instance.ts";
import type { CountOptions, InstanceListOptions, InstancePage } from "../workflows/instances/workflow-binding.ts";
import type { ScheduleSummary } from "../workflows/schedules/schedule-operations.ts";
import type { EarlierRun, HistoryItem, HistoryPage } from "../workflows/views/history-page.ts";
import type { WorkflowInstanceEvent } from "../workflows/views/instance-event.ts";
import { unreachable } from "./answer-errors.ts";

/** On the wire, times are texts, and users' values have their stored form. */
type Wire<Shape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Date
    ? string
    : Shape[Name] extends Date | null
      ? string | null
      : Shape[Name];
};

type WireFired = Omit<InstanceSchedule, "scheduledTime"> & { readonly scheduledTime: string };
export type WireState = Omit<Wire<InstanceState>, "schedule"> & { readonly schedule?: WireFired };
export type WireSummary = Omit<Wire<InstanceSummary>, "schedule"> & { readonly schedule?: WireFired };
export type WireDetails = WireSummary & {
  readonly unreceivedCount: number;
  readonly unreceivedEvents: readonly Wire<UnreceivedEvent>[];
};
export type WireHistory = Omit<HistoryPage, "entries" | "earlierRuns"> & {
  readonly entries: readonly (Omit<HistoryItem, "at" | "dueAt"> & { readonly at: string; readonly dueAt?: string })[];
  readonly earlierRuns: readonly Wire<EarlierRun>[];
};

/** A user's value as JSON. Values that JSON doesn't have become objects with the key `$perdure`. */
export function toWire(value: unknown): unknown {
  return JSON.parse(encodeValue(value)) as unknown;
}

/** An event as requests have it. */
export function toWireEvent({ type, payload, id }: SentEvent<string, unknown>): Record<string, unknown> {
  return {
    type,
    ...(payload === undefined ? {} : { payload: toWire(payload) }),
    ...(id === undefined ? {} : { id }),
  };
}

function fromWire(value: unknown): unknown {
  return decodeValue(JSON.stringify(value));
}

export function fromWireState<State extends WireState>(
  state: State,
): Omit<State, "schedule" | "createdAt" | "startedAt" | "finishedAt"> & InstanceState {
  return {
    ...state,
    ...("output" in state ? { output: fromWire(state.output) } : {}),
    ...("params" in state ? { params: fromWire(state.params) } : {}),
    ...(state.schedule === undefined ? {} : { schedule: fromWireFired(state.schedule) }),
    createdAt: new Date(state.createdAt),
    startedAt: toDate(state.startedAt),
    finishedAt: toDate(state.finishedAt),
  };
}

export function fromWireDetails(body: WireDetails): { state: InstanceState; unreceived: UnreceivedEvents } {
  const { unreceivedCount: count, unreceivedEvents, ...rest } = body;
  const { id: _id, workflowName: _name, ...state } = fromWireState(rest);
  const events = unreceivedEvents.map((event) => ({
    ...event,
    ...("payload" in event ? { payload: fromWire(event.payload) } : {}),
    at: new Date(event.at),
  }));
  return { state, unreceived: { count, events } };
}

function fromWireFired({ cron, scheduledTime }: WireFired): InstanceSchedule {
  return { cron, scheduledTime: new Date(scheduledTime) };
}

export interface WirePage {
  readonly instances: readonly WireSummary[];
  readonly cursor: string | null;
}

export function fromWirePage({ instances, cursor }: WirePage): InstancePage {
  return { instances: instances.map(fromWireState), cursor };
}

type WireLine = Omit<LineSummary, "inside" | "next" | "looksAt"> & {
  readonly inside: readonly Wire<InstanceInLine>[];
  readonly next: readonly Wire<InstanceInLine>[];
  readonly looksAt: string | null;
};

export type WireLines = Omit<LinePage, "lines"> & { readonly lines: readonly WireLine[] };

export function fromWireLines({ lines, cursor }: WireLines): LinePage {
  const toMember = ({ createdAt, startedAt, ...rest }: Wire<InstanceInLine>): InstanceInLine => ({
    ...rest,
    createdAt: new Date(createdAt),
    startedAt: toDate(startedAt),
  });
  const shown = lines.map(({ inside, next, looksAt, ...rest }) => ({
    ...rest,
    inside: inside.map(toMember),
    next: next.map(toMember),
    looksAt: toDate(looksAt),
  }));
  return { lines: shown, cursor };
}

export type WireWorker = Wire<WorkerSummary>;

export function fromWireWorker(worker: WireWorker): WorkerSummary {
  return { ...worker, startedAt: new Date(worker.startedAt), lastSeenAt: new Date(worker.lastSeenAt) };
}

export type WireHook = Wire<HookSummary>;

export function fromWireHook(hook: WireHook): HookSummary {
  return {
    ...hook,
    payload: "payload" in hook ? fromWire(hook.payload) : undefined,
    createdAt: new Date(hook.createdAt),
    lastAttemptAt: toDate(hook.lastAttemptAt),
    availableAt: toDate(hook.availableAt),
    finishedAt: toDate(hook.finishedAt),
  };
}

export type WireSubject = Wire<ListedSubject>;

export function fromWireSubject(subject: WireSubject): ListedSubject {
  return {
    ...subject,
    cursor: fromWire(subject.cursor ?? null),
    meta: fromWire(subject.meta ?? null),
    nextDueAt: toDate(subject.nextDueAt),
    leaseExpiresAt: toDate(subject.leaseExpiresAt),
    lastStartedAt: toDate(subject.lastStartedAt),
    lastSuccessAt: toDate(subject.lastSuccessAt),
    lastFailureAt: toDate(subject.lastFailureAt),
    createdAt: new Date(subject.createdAt),
    updatedAt: new Date(subject.updatedAt),
  };
}

export type WireSchedule = Wire<ScheduleSummary>;

export function fromWireSchedule(schedule: WireSchedule): ScheduleSummary {
  return { ...schedule, nextAt: toDate(schedule.nextAt), lastAt: toDate(schedule.lastAt) };
}

/** A 503 of a proxy isn't an answer of the application. */
export function fromWireHealth(body: unknown): Health {
  const { checks, ...health } = body as Health;
  if (typeof health.ready !== "boolean") throw unreachable(new TypeError("The answer isn't about health."));
  const { dispatcher } = checks;
  if (dispatcher === null) return { ...health, checks };
  const lastRoundAt = dispatcher.lastRoundAt === null ? null : new Date(dispatcher.lastRoundAt);
  return { ...health, checks: { ...checks, dispatcher: { ...dispatcher, lastRoundAt } } };
}

export function fromWireMetrics(body: unknown): Metrics {
  const { since, queue, ...metrics } = body as Metrics;
  return { ...metrics, since: new Date(since), queue: queue === null ? null : { ...queue, at: new Date(queue.at) } };
}

export function fromWireActivity(body: unknown): ActivityReport {
  const { since, minutes } = body as ActivityReport;
  return { since: new Date(since), minutes: minutes.map((minute) => ({ ...minute, at: new Date(minute.at) })) };
}

export function fromWireHistory({ entries, earlierRuns, ...rest }: WireHistory): HistoryPage {
  return {
    ...rest,
    entries: entries.map(({ at, dueAt, ...entry }) => ({
      ...entry,
      at: new Date(at),
      ...(dueAt === undefined ? {} : { dueAt: new Date(dueAt) }),
      ...("output" in entry ? { output: fromWire(entry.output) } : {}),
      ...("progress" in entry ? { progress: fromWire(entry.progress) } : {}),
      ...(entry.event === undefined ? {} : { event: fromWireReceived(entry.event) }),
    })),
    earlierRuns: earlierRuns.map((run) => ({
      ...run,
      ...("output" in run ? { output: fromWire(run.output) } : {}),
      startedAt: toDate(run.startedAt),
      finishedAt: toDate(run.finishedAt),
    })),
  };
}

export type WireExplanation = Omit<Explanation, "reason" | "others"> & {
  readonly reason: object;
  readonly others: readonly object[];
};

const REASON_TIMES: readonly string[] = ["at", "until", "since", "due", "leaseUntil"];

export function fromWireExplanation({ reason, others, ...rest }: WireExplanation): Explanation {
  return { ...rest, reason: fromWireReason(reason), others: others.map(fromWireReason) };
}

function fromWireReason(reason: object): WaitingReason {
  const fields = Object.entries(reason).map(([name, value]: [string, unknown]) => {
    if (name === "step" && value !== null) return [name, fromWireReason(value as object)];
    return [name, REASON_TIMES.includes(name) && typeof value === "string" ? new Date(value) : value];
  });
  return Object.fromEntries(fields) as WaitingReason;
}

/** Fields of events that contain users' values. */
const EVENT_VALUES: readonly string[] = ["params", "output", "value"];

export function fromWireEvent(event: Record<string, unknown>): WorkflowInstanceEvent {
  const fields = Object.entries(event).map(([name, value]) => [
    name,
    EVENT_VALUES.includes(name) ? fromWire(value) : value,
  ]);
  return Object.fromEntries(fields) as WorkflowInstanceEvent;
}

function fromWireReceived({ type, payload }: { readonly type: string; readonly payload?: unknown }) {
  return { type, payload: payload === undefined ? undefined : fromWire(payload) };
}

function toDate(time: string | null): Date | null {
  return time === null ? null : new Date(time);
}

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"] as const;
const TEXTS = ["idPrefix", "version", "parent", "step", "error"];
const LIST_FIELDS = ["status", "labels", ...TIMES, ...TEXTS, "order", "limit", "cursor"];

type Query = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The options of a create, as they are sent: `params` is a user's value. */
export function toWireOptions({ params, ...rest }: { readonly params?: unknown }): object {
  return params === undefined ? rest : { ...rest, params: toWire(params) };
}

/** A number of a query. */
export function textOf(value: number | boolean | undefined): string | undefined {
  return value === undefined ? undefined : String(value);
}

/** Times become texts, each status a parameter of its own, and labels `tenant=acme`. */
export function toListQuery(options: InstanceListOptions): Query {
  checkOptions(options, { label: "list", fields: LIST_FIELDS });
  const { labels, status, order, limit, cursor, idPrefix, version, parent, step, error } = options;
  return {
    status,
    order,
    cursor,
    idPrefix,
    step,
    error,
    version: version === undefined ? undefined : String(version ?? 0),
    parentWorkflow: parent?.workflowName,
    parentId: parent?.id,
    limit: textOf(limit),
    label: Object.entries(labels ?? {}).map(([name, value]) => `${name}=${value}`),
    ...Object.fromEntries(TIMES.map((name) => [name, toTime(name, options[name])])),
  };
}

export function toCountQuery(options: CountOptions): Query {
  checkOptions(options, { label: "counts", fields: ["exact"] });
  return { exact: textOf(options.exact) };
}

export function toTime(name: string, value: Date | number | undefined): string | undefined {
  if (value === undefined) return undefined;
  const time = new Date(value);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidInputError("options.invalid", `${name} must be a Date, or milliseconds since the epoch.`);
}
