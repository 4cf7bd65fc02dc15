import type { Clock } from "../../clock.ts";
import { Activity } from "./activity.ts";
import { Histogram, LONG_SECONDS, SHORT_SECONDS, SIZES } from "./histogram.ts";

/** Names that are counted apart, of hooks and of workflows each; what has another name is counted as `other`. */
export const MOST_NAMES = 200;
export const OTHER = "other";

/** How an attempt at a hook or at a step ended. */
export type AttemptOutcome = "completed" | "retried" | "failed";

/** How an instance ended. */
export type InstanceEnding = "complete" | "errored" | "terminated";

/** The group commits that are counted. */
export const FLUSHES = ["trigger", "settle", "create", "commit", "event"] as const;
export type FlushName = (typeof FLUSHES)[number];

const HOOK_FIELDS = { completed: "hooksCompleted", retried: "hooksRetried", failed: "hooksFailed" } as const;
const INSTANCE_FIELDS = {
  complete: "instancesCompleted",
  errored: "instancesErrored",
  terminated: "instancesTerminated",
} as const;

/** The attempts at hooks of one name. */
export class HookMeter {
  started = 0;
  running = 0;
  readonly ended: Record<AttemptOutcome, number> = { completed: 0, retried: 0, failed: 0 };
  readonly queue: Histogram = new Histogram(SHORT_SECONDS);
  readonly duration: Histogram = new Histogram(SHORT_SECONDS);
  readonly #activity: Activity;

  constructor(activity: Activity) {
    this.#activity = activity;
  }

  begin(queuedMs: number): void {
    this.started++;
    this.running++;
    this.queue.add(queuedMs / 1000);
    this.#activity.note("hooksStarted");
  }

  /** Its handler has ended. */
  rest(ranMs: number): void {
    this.running--;
    this.duration.add(ranMs / 1000);
  }

  /** Its outcome is written. */
  end(outcome: AttemptOutcome): void {
    this.ended[outcome]++;
    this.#activity.note(HOOK_FIELDS[outcome]);
  }
}

/** The instances of one workflow, and their steps. */
export class WorkflowMeter {
  started = 0;
  running = 0;
  readonly ended: Record<InstanceEnding, number> = { complete: 0, errored: 0, terminated: 0 };
  readonly steps: Record<AttemptOutcome, number> = { completed: 0, retried: 0, failed: 0 };
  readonly queue: Histogram = new Histogram(SHORT_SECONDS);
  readonly duration: Histogram = new Histogram(LONG_SECONDS);
  readonly stepDuration: Histogram = new Histogram(SHORT_SECONDS);
  readonly #activity: Activity;

  constructor(activity: Activity) {
    this.#activity = activity;
  }

  /** A worker of this process begins to run an instance that it has claimed. */
  claimed(queuedMs: number): void {
    this.queue.add(queuedMs / 1000);
  }

  /** An instance begins for the first time. */
  start(): void {
    this.started++;
    this.#activity.note("instancesStarted");
  }

  end(ending: InstanceEnding, ageMs: number): void {
    this.ended[ending]++;
    this.duration.add(ageMs / 1000);
    this.#activity.note(INSTANCE_FIELDS[ending]);
  }

  /** An attempt at a step has ended; `ranMs` is null if it never ran here. */
  step(outcome: AttemptOutcome, ranMs: number | null): void {
    this.steps[outcome]++;
    if (ranMs !== null) this.stepDuration.add(ranMs / 1000);
  }
}

/** A meter for each name, up to a number of names. */
export class NamedMeters<Meter> {
  readonly #create: () => Meter;
  readonly #meters = new Map<string, Meter>();

  constructor(create: () => Meter) {
    this.#create = create;
  }

  of(name: string): Meter {
    return this.#meters.get(name) ?? this.#add(this.#meters.size < MOST_NAMES ? name : OTHER);
  }

  get all(): ReadonlyMap<string, Meter> {
    return this.#meters;
  }

  #add(name: string): Meter {
    const meter = this.#meters.get(name) ?? this.#create();
    this.#meters.set(name, meter);
    return meter;
  }
}

/** What this process does with the hooks and workflows of one namespace. */
export class NamespaceMeter {
  readonly activity: Activity;
  readonly hooks: NamedMeters<HookMeter>;
  readonly workflows: NamedMeters<WorkflowMeter>;

  constructor(clock: Clock) {
    this.activity = new Activity(clock);
    this.hooks = new NamedMeters(() => new HookMeter(this.activity));
    this.workflows = new NamedMeters(() => new WorkflowMeter(this.activity));
  }
}

/** One kind of group commit. */
export class FlushMeter {
  failures = 0;
  readonly items: Histogram = new Histogram(SIZES);
  readonly duration: Histogram = new Histogram(SHORT_SECONDS);

  flushed(items: number, milliseconds: number): void {
    this.items.add(items);
    this.duration.add(milliseconds / 1000);
  }
}

/** The claims of one kind of work. */
export class ClaimMeter {
  claimed = 0;
  readonly duration: Histogram = new Histogram(SHORT_SECONDS);
}

/**
 * Counts what this process does in one database. Counting is additions to numbers: no statement, no timer, no value of a
 * user's, and no id. Only the names of hooks and workflows that this process has registered become labels.
 */
export class Meter {
  readonly flushes: Readonly<Record<FlushName, FlushMeter>>;
  readonly claims: Readonly<Record<"hook" | "instance", ClaimMeter>> = {
    hook: new ClaimMeter(),
    instance: new ClaimMeter(),
  };
  readonly #clock: Clock;
  readonly #namespaces = new Map<string, NamespaceMeter>();

  constructor(clock: Clock) {
    this.#clock = clock;
    this.flushes = Object.fromEntries(FLUSHES.map((name) => [name, new FlushMeter()])) as Record<FlushName, FlushMeter>;
  }

  of(namespace: string): NamespaceMeter {
    const known = this.#namespaces.get(namespace);
    if (known !== undefined) return known;
    const meter = new NamespaceMeter(this.#clock);
    this.#namespaces.set(namespace, meter);
    return meter;
  }
}
