import type { Entry } from "../data/types.ts";

/** A part of a step's life. */
export interface Segment {
  readonly kind: "work" | "wait" | "sleep" | "retry" | "rollback";
  readonly from: number;
  readonly to: number;
  readonly failed: boolean;
  /** Whether it began at an unknown time after `from`: the journal has only its end. */
  readonly soft: boolean;
  /** Whether it goes on. */
  readonly open: boolean;
}

export type StepState =
  | "running"
  | "waiting"
  | "retrying"
  | "complete"
  | "failed"
  | "timedOut"
  | "abandoned"
  | "rolledBack"
  | "rollbackFailed";

/** One step of a run, made from its entries. */
export interface Step {
  readonly key: string;
  readonly type: string;
  readonly name: string;
  readonly count: number;
  readonly depth: number;
  readonly state: StepState;
  readonly from: number;
  readonly to: number;
  readonly segments: readonly Segment[];
  readonly entries: readonly Entry[];
  /** What is shown: the name, but of the wait for a child only the name of its workflow. */
  readonly title: string;
  /** The instance that the step created, or waits for. */
  readonly child: { readonly workflowName: string; readonly id: string } | null;
  /** Whether the steps of the child are shown below this one. */
  readonly expands: boolean;
}

export interface RunTimes {
  readonly startedAt: number;
  /** The end of the run, or the present. */
  readonly until: number;
  readonly finished: boolean;
}

/** A step that has begun and has no entry yet, as far as the server knows. */
export interface BegunStep {
  readonly type: string;
  readonly name: string;
  readonly count: number;
  readonly since?: string;
}

/** What waits for something else, whether or not the journal has the beginning of the wait. */
const WAITS: readonly string[] = ["sleep", "waitForEvent", "result", "token"];

const STARTS: readonly string[] = ["started", "undoable", "waiting", "rollingBack"];

/** Collects the entries of one step. */
class StepBuilder {
  readonly key: string;
  readonly first: Entry;
  readonly entries: Entry[] = [];
  readonly segments: Segment[] = [];
  readonly children: StepBuilder[] = [];
  state: StepState = "running";
  /** When the present attempt or wait began. */
  #since: number;
  #soft: boolean;
  #undoing: number | null = null;
  readonly #waits: boolean;

  constructor(key: string, first: Entry, since: number) {
    this.key = key;
    this.first = first;
    this.#soft = !STARTS.includes(first.kind);
    this.#since = since;
    this.#waits = WAITS.includes(first.type);
  }

  /** `before` is the time of the last commit before the entry's. */
  add(entry: Entry, before: number): void {
    const at = Date.parse(entry.at);
    this.entries.push(entry);
    switch (entry.kind) {
      case "waiting":
        this.#since = at;
        this.state = "waiting";
        return;
      case "failed":
        this.#close(at, true);
        this.state = entry.dueAt === undefined ? "failed" : "retrying";
        if (entry.dueAt !== undefined) this.#retry(at, Date.parse(entry.dueAt));
        return;
      case "completed":
      case "received":
        this.#close(at, false);
        this.state = "complete";
        return;
      case "timedOut":
      case "abandoned":
        this.#close(at, entry.kind === "timedOut");
        this.state = entry.kind;
        return;
      case "rollingBack":
        this.#undoing = at;
        return;
      case "rollbackStarted":
        this.#undoing = at;
        return;
      case "rolledBack":
      case "rollbackFailed":
        this.#undo(at, before, entry.kind === "rollbackFailed");
        this.state = entry.kind;
        return;
    }
  }

  /** What hasn't ended goes on until now. */
  finish({ until, finished }: RunTimes): void {
    if (this.first.kind === "rollingBack") {
      this.segments.push({ ...this.#segment("rollback", Number(this.#undoing), until), open: !finished });
      this.state = finished ? "rolledBack" : "running";
    } else if (this.state === "running" || this.state === "waiting") {
      const kind = this.#waits ? this.#waiting : "work";
      this.segments.push({
        ...this.#segment(kind, this.#since, Math.max(until, this.#since)),
        soft: this.#soft,
        open: true,
      });
    }
  }

  get from(): number {
    return Math.min(...this.segments.map(({ from }) => from), this.#since);
  }

  get to(): number {
    return Math.max(...this.segments.map(({ to }) => to), this.#since);
  }

  get #waiting(): "sleep" | "wait" {
    return this.first.type === "sleep" ? "sleep" : "wait";
  }

  #close(at: number, failed: boolean): void {
    const kind = this.#waits ? this.#waiting : "work";
    this.segments.push({ ...this.#segment(kind, Math.min(this.#since, at), at), failed, soft: this.#soft });
    this.#soft = false;
    this.#since = at;
  }

  #retry(at: number, due: number): void {
    if (due > at) this.segments.push(this.#segment("retry", at, due));
    this.#since = Math.max(at, due);
  }

  #undo(at: number, before: number, failed: boolean): void {
    const from = this.#undoing ?? before;
    this.segments.push({ ...this.#segment("rollback", from, at), failed, soft: this.#undoing === null });
    this.#undoing = null;
  }

  #segment(kind: Segment["kind"], from: number, to: number): Segment {
    return { kind, from, to, failed: false, soft: false, open: false };
  }
}

/** The steps of a run in the order in which they began, each followed by the steps inside it. */
export function toSteps(entries: readonly Entry[], times: RunTimes, begun: BegunStep | null = null): Step[] {
  const builders = new Map<string, StepBuilder>();
  let latest = times.startedAt;
  let before = times.startedAt;
  for (const entry of entries) {
    const at = Date.parse(entry.at);
    if (at > latest) before = latest;
    const key = keyOf(entry);
    const known = builders.get(key);
    const builder = known ?? new StepBuilder(key, entry, STARTS.includes(entry.kind) ? at : before);
    if (known === undefined) builders.set(key, builder);
    builder.add(entry, before);
    latest = Math.max(latest, at);
  }
  if (begun !== null && !times.finished) addBegun(builders, begun, latest);
  const roots = [...builders.values()].filter((builder) => !isInside(builder, builders));
  const steps: Step[] = [];
  const add = (builder: StepBuilder, depth: number) => {
    builder.finish(times);
    steps.push(toStep(builder, depth));
    for (const child of builder.children) add(child, depth + 1);
  };
  for (const root of roots) add(root, 0);
  const created = new Set(steps.filter(({ type }) => type === "create").map(({ child }) => child?.id));
  return steps.map((step) =>
    step.type === "result" && created.has(step.child?.id) ? { ...step, expands: false } : step,
  );
}

function addBegun(builders: Map<string, StepBuilder>, { type, name, count, since }: BegunStep, latest: number): void {
  const at = since ?? new Date(latest).toISOString();
  const entry: Entry = { run: 0, position: 0, at, kind: "begun", type, name, count };
  const key = keyOf(entry);
  if (!builders.has(key)) builders.set(key, new StepBuilder(key, { ...entry, kind: "started" }, Date.parse(at)));
}

function isInside(builder: StepBuilder, builders: ReadonlyMap<string, StepBuilder>): boolean {
  const parent = builder.first.inside === undefined ? undefined : builders.get(builder.first.inside);
  if (parent === undefined || parent === builder) return false;
  parent.children.push(builder);
  return true;
}

function keyOf({ type, name, count, inside }: Entry): string {
  const own = `${type}:${name}#${count}`;
  return inside === undefined ? own : `${inside}/${own}`;
}

function toStep(builder: StepBuilder, depth: number): Step {
  const { key, state, first, from, to, segments, entries } = builder;
  const { type, name, count } = first;
  const child = childOf(builder);
  const title = type === "result" && child !== null ? child.workflowName : name;
  const expands = child !== null;
  return { key, type, name, title, count, depth, state, from, to, segments, entries, child, expands };
}

function childOf({ first: { type, name }, entries }: StepBuilder): Step["child"] {
  if (type === "result") {
    const at = name.indexOf("/"); // workflows have none in their names
    return at < 0 ? null : { workflowName: name.slice(0, at), id: name.slice(at + 1) };
  }
  if (type !== "create") return null;
  const output = entries.find(({ kind }) => kind === "completed")?.output;
  return typeof output === "string" && output !== "[REDACTED]" ? { workflowName: name, id: output } : null;
}
