import type { Clock } from "../../clock.ts";
import { InvalidInputError } from "../../errors.ts";
import type { InstanceCommit, InstanceRun, NewEntry, ProgressRange } from "../../store/instances/instance-records.ts";
import { encodeValue } from "../../values/index.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { BodyCall } from "./steps/step-call.ts";
import { pathOf, type StepIdentity } from "./steps/step-path.ts";

/** What one emit may give, and how many an attempt may make. */
const MOST_BYTES = 16 * 1024;
const MOST_EMITS = 10_000;

interface Emitted {
  readonly entry: NewEntry;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The progress that bodies emit while they run. It is written like everything else of the execution, in order, with the next
 * commit; values that are emitted while a commit is under way go together into the next. Progress doesn't count as something
 * done: lost owners are counted on across it.
 */
export class Progress {
  readonly #run: InstanceRun;
  readonly #host: ExecutionHost;
  #waiting: Emitted[] = [];
  /** Steps that have emitted something and ended, with the entry that says so, until that is written. */
  #ended: { readonly call: BodyCall; readonly entry: NewEntry }[] = [];
  /** Where the progress of steps that haven't ended begins in the journal, by path. */
  #begins: Map<string, number> | undefined;

  constructor(run: InstanceRun, host: ExecutionHost) {
    this.#run = run;
    this.#host = host;
  }

  /** How many emits wait until they are stored. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Returns the entry to write, and a promise that resolves when it is stored. A value that can't be stored is thrown at once.
   */
  emit(call: BodyCall, value: unknown): { readonly entry: NewEntry; readonly stored: Promise<void> } {
    call.progressed = true;
    if (++call.emits > MOST_EMITS) {
      throw new InvalidInputError("progress.too_many", `An attempt may emit at most ${MOST_EMITS} times.`);
    }
    const label = `What the step "${call.name}" emits`;
    const text = encodeValue(value, { label, maxBytes: MOST_BYTES });
    const entry = call.entry("progress", { attempt: call.attempt, value: text });
    const stored = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ entry, resolve, reject });
    });
    stored.catch(() => {}); // a body need not wait for it
    return { entry, stored };
  }

  /** The step of this call had ended before. Its progress is still there if its last owner ended too early to drop it. */
  foundEnded(call: BodyCall): void {
    this.#forget(call);
  }

  /**
   * A step that has emitted something ended for good. When that is written, its progress is dropped, unless it is to be kept.
   */
  ended(call: BodyCall, entry: NewEntry): void {
    this.#ended.push({ call, entry });
  }

  /** A commit was written. */
  written(commit: InstanceCommit): void {
    if (this.#waiting.length > 0) this.#answer(commit);
    if (this.#ended.length === 0) return;
    const over = this.#ended.filter(({ entry }) => commit.entries.includes(entry));
    this.#ended = this.#ended.filter((one) => !over.includes(one));
    for (const { call } of over) this.#forget(call);
  }

  /** Progress of earlier executions comes first, and may have an older name. */
  #forget(call: BodyCall): void {
    const path = pathOf(call);
    const begin = this.#begins?.get(path) ?? null;
    this.#begins?.delete(path);
    if (call.policy.keepProgress) return;
    const before = call.record?.progressFrom ?? null;
    if (call.record !== null && before !== null) this.#drop(call.record, before);
    if (begin !== null && (before === null || call.record?.name !== call.name)) {
      this.#drop(call, begin);
    }
  }

  /** No more progress is written. */
  end(reason: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(reason);
  }

  #answer({ entries, position }: InstanceCommit): void {
    for (const [index, entry] of entries.entries()) {
      if (entry.kind !== "progress") continue;
      const path = pathOf(entry);
      this.#begins ??= new Map();
      if (!this.#begins.has(path)) this.#begins.set(path, position + index);
      this.#waiting.shift()?.resolve();
    }
  }

  #drop({ type, name, count, parent }: StepIdentity, from: number): void {
    const { ref, run } = this.#run;
    this.#host.dropProgress({ ref, run, type, name, count, parent, from });
  }
}

/**
 * How long the progress of a step is kept after its end. Followers in other processes look every two seconds at the latest, and
 * read it page by page: this leaves them time for that.
 */
const KEEP_MS = 30_000;
/** If more steps than this emit something within that time, the oldest are dropped first. */
const MOST_WAITING = 10_000;

/**
 * The progress of steps that have ended: it is dropped, but not before followers of the instance can have read it. There is no
 * timer, so that an object or a process can come to rest: due progress is dropped when the process commits something, or looks
 * when to wake up next. Progress that a process leaves behind is dropped after the next load of the instance.
 */
export class ProgressDrops {
  readonly #clock: Clock;
  readonly #drop: (range: ProgressRange) => Promise<void>;
  readonly #waiting: { readonly range: ProgressRange; readonly dueAt: number }[] = [];
  #sweeping = false;

  constructor(clock: Clock, drop: (range: ProgressRange) => Promise<void>) {
    this.#clock = clock;
    this.#drop = drop;
  }

  add(range: ProgressRange): void {
    this.#waiting.push({ range, dueAt: this.#clock.monotonic() + KEEP_MS });
    this.sweep();
  }

  /** Drops due progress, one step after the other. */
  sweep(): void {
    if (this.#waiting.length > 0 && !this.#sweeping && this.#isDue) void this.#sweep();
  }

  get #isDue(): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return false;
    return this.#waiting.length > MOST_WAITING || first.dueAt <= this.#clock.monotonic();
  }

  async #sweep(): Promise<void> {
    this.#sweeping = true;
    while (this.#isDue) {
      const { range } = this.#waiting.shift() as { range: ProgressRange };
      await this.#drop(range).catch(() => {}); // then it stays until the next load, and does no harm
    }
    this.#sweeping = false;
  }
}
