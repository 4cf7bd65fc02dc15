import { WorkflowTimeoutError } from "../errors.ts";
import type { Deadline, InstanceChange } from "../store/instances/instance-records.ts";
import type { Store } from "../store/store.ts";
import { encodeError } from "../values/index.ts";
import type { RegisteredWorkflows } from "./define/registered-workflows.ts";
import { endingTrigger } from "./define/terminal-hooks.ts";
import type { Execution } from "./execution/execution.ts";

/** How many deadlines are read at once. */
const BATCH = 100;
/** How often to look in any case: another process may have created an instance, and may have ended since. */
const LOOK_MS = 60_000;

/** The runtime of a namespace. */
interface TimeoutHost {
  readonly store: Store;
  readonly namespace: string;
  readonly workflows: RegisteredWorkflows;
  readonly live: ReadonlyMap<string, Execution>;
  /** How many executions have begun. */
  readonly begun: number;
  change(operation: "timeOut", ask: () => Promise<InstanceChange>): Promise<InstanceChange>;
}

/**
 * Ends the runs of one namespace that take longer than their timeouts. A deadline is a column of the instance and doesn't
 * depend on the instance's state, so it holds while the instance runs, waits, stands in line or is paused, and while no process
 * runs. All processes look; of several that find a deadline to be over, one takes the instance from its owner.
 */
export class TimeoutKeeper {
  readonly #runtime: TimeoutHost;
  /** By the monotonic clock. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  /** When the earliest known deadline is over; infinite if there is none. */
  #dueAt = Number.POSITIVE_INFINITY;
  #changes = 0;

  constructor(runtime: TimeoutHost) {
    this.#runtime = runtime;
  }

  /** An instance was created whose run may take so many milliseconds; null is for ever. */
  note(timeout: number | null): void {
    if (timeout === null) return;
    const { store, namespace } = this.#runtime;
    const dueAt = store.clock.monotonic() + timeout;
    if (dueAt >= this.#dueAt) return;
    this.#dueAt = dueAt;
    store.work.post({ namespace, delayMs: 0 });
  }

  /** An instance has got another deadline. */
  changed(): void {
    this.#changes++;
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    const { store, namespace } = this.#runtime;
    store.work.post({ namespace, delayMs: 0 });
  }

  /** Ends the runs whose deadlines are over. Returns the milliseconds until the next call; null if none is needed. */
  async tend(): Promise<number | null> {
    if (this.#mustLook()) await this.#endOverdue();
    const { clock, work } = this.#runtime.store;
    const nextAt = Math.min(this.#dueAt, work.alone ? Number.POSITIVE_INFINITY : this.#lookedAt + LOOK_MS);
    return nextAt === Number.POSITIVE_INFINITY ? null : nextAt - clock.monotonic();
  }

  /** Milliseconds until the next deadline. */
  async nextWake(): Promise<number | null> {
    if (this.#mustLook()) await this.#look();
    return this.#dueAt === Number.POSITIVE_INFINITY ? null : this.#dueAt - this.#runtime.store.clock.monotonic();
  }

  /** Takes the run from its owner, to be rolled back and to end. Returns false if it isn't overdue any more. */
  async end({ instance, ref, run, timeoutMs }: Omit<Deadline, "at" | "remainingMs">): Promise<boolean> {
    const { store, workflows } = this.#runtime;
    const { name, id } = instance;
    const error = encodeError(new WorkflowTimeoutError(name, id, timeoutMs));
    const hook =
      workflows.find(name)?.endingHooks.errored === undefined
        ? undefined
        : endingTrigger({ ...instance, run }, "errored", ["error", error], store.createId);
    const { changed } = await this.#runtime.change("timeOut", () =>
      store.instances.statements.timeOut({ instance, ref, run, error, ...(hook && { hook }) }),
    );
    return changed;
  }

  #mustLook(): boolean {
    const now = this.#runtime.store.clock.monotonic();
    return now >= this.#dueAt || now >= this.#lookedAt + LOOK_MS;
  }

  async #look(): Promise<Deadline[]> {
    const { store, namespace, workflows, begun } = this.#runtime;
    const lookedAt = store.clock.monotonic();
    this.#lookedAt = Number.NEGATIVE_INFINITY; // until the database has answered
    this.#dueAt = Number.POSITIVE_INFINITY; // instances that are created meanwhile set it again
    const changes = this.#changes;
    const deadlines = await store.instances.statements.deadlines({ namespace, names: workflows.names }, BATCH);
    if (changes === this.#changes) this.#lookedAt = lookedAt;
    const [first] = deadlines;
    if (first !== undefined) this.#dueAt = Math.min(this.#dueAt, lookedAt + first.remainingMs);
    this.#leaveEnded(deadlines, begun);
    return deadlines;
  }

  async #endOverdue(): Promise<void> {
    for (;;) {
      const overdue = (await this.#look()).filter(({ remainingMs }) => remainingMs <= 0);
      let ended = 0;
      for (const deadline of overdue) if (await this.end(deadline)) ended++;
      if (ended === 0) return;
    }
  }

  /** Executions of this process whose deadlines aren't stored any more: another process has ended their runs. */
  #leaveEnded(deadlines: readonly Deadline[], begun: number): void {
    const last = deadlines.length < BATCH ? Number.POSITIVE_INFINITY : (deadlines.at(-1)?.at ?? 0);
    let known: Set<string> | undefined;
    for (const execution of this.#runtime.live.values()) {
      const { deadline, ref, rollingBack } = execution.instance;
      if (deadline === null || deadline >= last || rollingBack !== null || execution.order > begun) continue;
      known ??= new Set(deadlines.map((one) => one.ref));
      if (!known.has(ref)) execution.leave();
    }
  }
}
