import type { Store } from "../store/store.ts";
import type { HistogramSnapshot } from "./meters/histogram.ts";
import {
  type AttemptOutcome,
  type ClaimMeter,
  FLUSHES,
  type FlushMeter,
  type FlushName,
  type HookMeter,
  type InstanceEnding,
  type WorkflowMeter,
} from "./meters/meter.ts";
import { type QueueGauges, readGauges } from "./queue-gauges.ts";

/** Attempts at hooks of one name, in this process. Times are in seconds. */
export interface HookMetrics {
  readonly started: number;
  readonly completed: number;
  readonly retried: number;
  readonly failed: number;
  /** Handlers that run now. */
  readonly running: number;
  /** From when a hook was due until it was claimed. */
  readonly queueSeconds: HistogramSnapshot;
  /** Of handlers. */
  readonly durationSeconds: HistogramSnapshot;
}

/** Instances of one workflow, in this process. Times are in seconds. */
export interface WorkflowMetrics {
  readonly started: number;
  readonly completed: number;
  readonly errored: number;
  readonly terminated: number;
  /** Instances that a worker of this process holds now. */
  readonly running: number;
  /** Attempts at steps. */
  readonly steps: Readonly<Record<AttemptOutcome, number>>;
  /** From when an instance was due until it was claimed. */
  readonly queueSeconds: HistogramSnapshot;
  /** Of instances, from their creation to their end. */
  readonly durationSeconds: HistogramSnapshot;
  /** Of attempts at steps. */
  readonly stepSeconds: HistogramSnapshot;
}

/** The group commits of one kind: several writes share a flush. */
export interface FlushMetrics {
  /** How many writes were flushed. */
  readonly writes: number;
  /** Flushes that the database refused, or didn't answer. They are sent again. */
  readonly failures: number;
  readonly items: HistogramSnapshot;
  readonly durationSeconds: HistogramSnapshot;
}

export interface ClaimMetrics {
  /** How many hooks or instances were claimed. Those that were created with a lease of this process weren't. */
  readonly claimed: number;
  readonly durationSeconds: HistogramSnapshot;
}

/** What a process has done, and what the database says about the work of all processes. */
export interface Metrics {
  readonly namespace: string;
  /** When this process began to count. */
  readonly since: Date;
  /** By name: at most 200 names, and `other`. */
  readonly hooks: Readonly<Record<string, HookMetrics>>;
  /** By name: at most 200 names, and `other`. */
  readonly workflows: Readonly<Record<string, WorkflowMetrics>>;
  /** Of all namespaces in the same database. */
  readonly flushes: Readonly<Record<FlushName, FlushMetrics>>;
  /** Of all namespaces in the same database. */
  readonly claims: { readonly hooks: ClaimMetrics; readonly workflows: ClaimMetrics };
  /** Of all processes; null if the database doesn't answer. Some seconds old at most. */
  readonly queue: QueueGauges | null;
}

/** Never rejects. Sends three or four statements if the last answer is older than five seconds, and none otherwise. */
export async function readMetrics(store: Store, namespace: string): Promise<Metrics> {
  const queue = await readGauges(store, namespace);
  const { flushes, claims } = store.meter;
  const { activity, hooks, workflows } = store.meter.of(namespace);
  return {
    namespace,
    since: new Date(activity.since),
    hooks: toRecord(hooks.all, ofHook),
    workflows: toRecord(workflows.all, ofWorkflow),
    flushes: Object.fromEntries(FLUSHES.map((name) => [name, ofFlush(flushes[name])])) as Metrics["flushes"],
    claims: { hooks: ofClaims(claims.hook), workflows: ofClaims(claims.instance) },
    queue,
  };
}

function toRecord<Meter, Shown>(
  meters: ReadonlyMap<string, Meter>,
  show: (meter: Meter) => Shown,
): Record<string, Shown> {
  return Object.fromEntries(Array.from(meters, ([name, meter]) => [name, show(meter)]));
}

function ofHook({ started, running, ended, queue, duration }: HookMeter): HookMetrics {
  return { started, ...ended, running, queueSeconds: queue.snapshot(), durationSeconds: duration.snapshot() };
}

function ofWorkflow({ started, running, ended, steps, ...times }: WorkflowMeter): WorkflowMetrics {
  const { complete: completed, errored, terminated }: Record<InstanceEnding, number> = ended;
  return {
    started,
    completed,
    errored,
    terminated,
    running,
    steps: { ...steps },
    queueSeconds: times.queue.snapshot(),
    durationSeconds: times.duration.snapshot(),
    stepSeconds: times.stepDuration.snapshot(),
  };
}

function ofFlush({ failures, items, duration }: FlushMeter): FlushMetrics {
  const sizes = items.snapshot();
  return { writes: sizes.sum, failures, items: sizes, durationSeconds: duration.snapshot() };
}

function ofClaims({ claimed, duration }: ClaimMeter): ClaimMetrics {
  return { claimed, durationSeconds: duration.snapshot() };
}
