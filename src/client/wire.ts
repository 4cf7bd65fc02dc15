import { decodeValue, encodeValue } from "../values/index.ts";
import type { EarlierRun, HistoryItem, HistoryPage } from "../workflows/instances/history-page.ts";
import type { InstanceState, InstanceSummary } from "../workflows/instances/instance.ts";
import type { InstancePage } from "../workflows/instances/workflow-binding.ts";
import type { WorkflowInstanceEvent } from "../workflows/views/instance-event.ts";

/** Times are texts on the wire, and values are what they are stored as. */
type Wire<Shape> = {
  readonly [Name in keyof Shape]: Shape[Name] extends Date
    ? string
    : Shape[Name] extends Date | null
      ? string | null
      : Shape[Name];
};

export type WireState = Wire<InstanceState>;
export type WireSummary = Wire<InstanceSummary>;
export type WireHistory = Omit<HistoryPage, "entries" | "earlierRuns"> & {
  readonly entries: readonly (Omit<HistoryItem, "at" | "dueAt"> & { readonly at: string; readonly dueAt?: string })[];
  readonly earlierRuns: readonly Wire<EarlierRun>[];
};

/** What users give, as JSON: what JSON can't say is an object with the key `$perdure`. */
export function toWire(value: unknown): unknown {
  return JSON.parse(encodeValue(value)) as unknown;
}

function fromWire(value: unknown): unknown {
  return decodeValue(JSON.stringify(value));
}

export function fromWireState<State extends WireState>(
  state: State,
): Omit<State, "createdAt" | "startedAt" | "finishedAt"> & InstanceState {
  return {
    ...state,
    ...("output" in state ? { output: fromWire(state.output) } : {}),
    createdAt: new Date(state.createdAt),
    startedAt: toDate(state.startedAt),
    finishedAt: toDate(state.finishedAt),
  };
}

export interface WirePage {
  readonly instances: readonly WireSummary[];
  readonly cursor: string | null;
}

export function fromWirePage({ instances, cursor }: WirePage): InstancePage {
  return { instances: instances.map(fromWireState), cursor };
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

/** Fields of events that carry what users gave. */
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
