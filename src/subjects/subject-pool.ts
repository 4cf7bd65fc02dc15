import { callSafely } from "../call-safely.ts";
import { pause } from "../clock.ts";
import { AttemptAbortedError } from "../errors.ts";
import { LeaseKeeper } from "../queue/lease-keeper.ts";
import type { Store } from "../store/store.ts";
import { loggedError } from "../values/index.ts";
import { type Ending, SubjectExecution } from "./subject-execution.ts";
import type { SubjectLedger } from "./subject-ledger.ts";
import { type HandleSubject, type SubjectOutcome, type SubjectProgress, toSubjectState } from "./subject-state.ts";

export interface PoolOptions {
  readonly ledger: SubjectLedger;
  readonly store: Store;
  readonly handle: HandleSubject;
  readonly limit: number;
  readonly leaseMs: number;
  readonly concurrency: number;
  readonly everyMs: number | null;
  readonly onProgress: (progress: SubjectProgress) => unknown;
  /** A subject has ended. */
  readonly onRoom: () => void;
}

export type SubjectCounts = Record<SubjectOutcome | "claimed", number>;

/** Subjects at work in this process, each apart from the others, with their leases. */
export class SubjectPool {
  readonly counts: SubjectCounts = { claimed: 0, completed: 0, failed: 0, released: 0, lost: 0 };
  readonly #options: PoolOptions;
  readonly #leases: LeaseKeeper<SubjectExecution>;
  readonly #running = new Map<SubjectExecution, Promise<void>>();
  #stopping = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    const { logger, clock, stackTraces } = options.store;
    this.#leases = new LeaseKeeper(clock, options.leaseMs, (error) =>
      logger.warn("The leases of subjects could not be renewed; trying again.", {
        error: loggedError(error, stackTraces),
      }),
    );
  }

  get running(): number {
    return this.#running.size;
  }

  get room(): number {
    return this.#stopping ? 0 : this.#options.concurrency - this.#running.size;
  }

  /** Claims as many as there is room for, in one small batch, and starts them. */
  async fill(dueBy: number | null): Promise<{ asked: number; claimed: number }> {
    const { ledger, limit, leaseMs, store } = this.#options;
    const asked = Math.min(this.room, limit);
    if (asked === 0) return { asked, claimed: 0 };
    const requestedAt = store.clock.monotonic();
    const records = await ledger.claim({ limit: asked, leaseMs, dueBy });
    const executions = records.map((record) => new SubjectExecution(record, this.#executionOptions()));
    this.counts.claimed += executions.length;
    if (this.#stopping) await this.#giveBack(executions);
    else for (const execution of executions) this.#start(execution, requestedAt);
    return { asked, claimed: records.length };
  }

  /** Claims no more, and asks what runs to come to an end. */
  abort(): void {
    this.#stopping = true;
    for (const execution of this.#running.keys()) execution.stop(stopped());
  }

  /** Waits for what runs; after the deadline it hands the rest back. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopping = true;
    const { clock } = this.#options.store;
    const ended = new AbortController();
    const all = Promise.all(this.#running.values()).then(() => ended.abort());
    await Promise.race([all, pause(clock, deadlineMs, ended.signal)]);
    const late = [...this.#running.keys()];
    for (const execution of late) this.#leases.drop(execution);
    await Promise.all(late.map((execution) => execution.handBack(stopped())));
  }

  /** Resolves when nothing runs. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Releases subjects that were claimed while the pool was being stopped. */
  async #giveBack(executions: readonly SubjectExecution[]): Promise<void> {
    await Promise.all(executions.map((execution) => execution.handBack(stopped())));
    this.counts.released += executions.length;
  }

  #executionOptions() {
    const { ledger, handle, leaseMs, everyMs, store } = this.#options;
    const onCheckpoint = (execution: SubjectExecution, requestedAt: number) => {
      if (!this.#running.has(execution)) return;
      this.#leases.hold(execution, this.#source, requestedAt);
      this.#tell({ event: "checkpointed", subject: toSubjectState(execution.record) });
    };
    return { ledger, handle, leaseMs, everyMs, clock: store.clock, onCheckpoint };
  }

  #start(execution: SubjectExecution, requestedAt: number): void {
    this.#leases.hold(execution, this.#source, requestedAt);
    this.#tell({ event: "claimed", subject: toSubjectState(execution.record) });
    const ended = execution.run().then((ending) => this.#ended(execution, ending));
    this.#running.set(execution, ended);
  }

  #ended(execution: SubjectExecution, { outcome, error }: Ending): void {
    this.#leases.drop(execution);
    this.#running.delete(execution);
    this.counts[outcome]++;
    const failure = error === undefined ? {} : { error };
    this.#tell({ event: outcome, subject: toSubjectState(execution.record), ...failure });
    this.#options.onRoom();
  }

  /** A checkpoint that is under way moves the revision, and renews the lease itself. */
  readonly #source = {
    renew: async (executions: readonly SubjectExecution[], leaseMs: number): Promise<Set<SubjectExecution>> => {
      const versions = executions.map(({ record }) => record);
      const held = await this.#options.ledger.renew(versions, leaseMs);
      return new Set(executions.filter((one, index) => held[index] || one.writing || one.record !== versions[index]));
    },
  };

  #tell(progress: SubjectProgress): void {
    const { onProgress, store } = this.#options;
    callSafely(
      () => onProgress(progress),
      (error) => store.logger.error("onProgress threw.", { error: loggedError(error, store.stackTraces) }),
    );
  }
}

function stopped(): AttemptAbortedError {
  return new AttemptAbortedError(
    "attempt.shutdown",
    "The run is ending: finish soon, or throw to release the subject.",
  );
}
