import type { JobRecord, JobWriteResult } from "../store/jobs/job-records.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { actOnInstance, type InstanceJob, receiptOf } from "./act-on-instance.ts";
import { findHooks, findInstances } from "./find-items.ts";
import { count, type JobProgress } from "./job-progress.ts";
import type { StoredRequest } from "./job-request.ts";

/** The lease of a job, which each write of its owner renews. */
export const JOB_LEASE_MS = 10_000;
/** After this time, or this many batches, live work goes first. */
export const SLICE_MS = 200;
const MOST_BATCHES = 10;
const BATCH = 50;
/** How many instances are changed at the same time. */
const AT_ONCE = 10;

/** One turn of an owner with its job: some batches. */
export class JobSlice {
  readonly #runtime: WorkflowRuntime;
  readonly #record: JobRecord;
  readonly #request: StoredRequest;
  #progress: JobProgress;
  #cancelled: boolean;
  #heldUntil: number;

  /** `askedAt`: when the job was claimed, by the monotonic clock. */
  constructor(runtime: WorkflowRuntime, record: JobRecord, askedAt: number) {
    this.#runtime = runtime;
    this.#record = record;
    this.#request = JSON.parse(record.request) as StoredRequest;
    this.#progress = JSON.parse(record.progress) as JobProgress;
    this.#cancelled = record.cancelled;
    this.#heldUntil = askedAt + JOB_LEASE_MS;
  }

  /** Rejects if the database fails: then the job continues when its lease is over. */
  async run(): Promise<void> {
    const { clock } = this.#runtime.store;
    const endAt = clock.monotonic() + SLICE_MS;
    let held = this.#cancelled ? await this.#countDone() : await this.#finishBatch();
    for (let batches = 1; held && !this.#cancelled; batches++) {
      if (batches > MOST_BATCHES || clock.monotonic() >= endAt) {
        await this.#write("released");
        return;
      }
      const more = this.#request.target === "hooks" ? await this.#changeHooks() : await this.#changeInstances();
      if (more === "over") break;
      held = more === "held";
    }
    this.#progress = { ...this.#progress, batch: [] }; // what is left of it was not begun
    if (held) await this.#write("ended");
  }

  async #changeInstances(): Promise<"held" | "lost" | "over"> {
    const { cursor: after, last } = this.#progress;
    const request = this.#request as Extract<StoredRequest, { target: "instances" }>;
    const range = { after, last, limit: BATCH };
    const { items, continueAfter } = await findInstances(this.#runtime.store, this.#record, request, range);
    const cursor = continueAfter ?? last;
    this.#progress = { ...this.#progress, cursor, batch: items };
    if (items.length > 0) {
      if (!(await this.#write("held"))) return "lost";
      if (!(await this.#finishBatch())) return "lost";
    }
    return continueAfter === null ? "over" : "held";
  }

  /** Acts on the instances of the batch. Returns whether the job is still held. */
  async #finishBatch(): Promise<boolean> {
    const { clock } = this.#runtime.store;
    const { id, actor } = this.#record;
    while (this.#progress.batch.length > 0 && !this.#cancelled) {
      if (clock.monotonic() >= this.#heldUntil) return false;
      const job: InstanceJob = { id, actor, request: this.#request as InstanceJob["request"] };
      const items = this.#progress.batch.slice(0, AT_ONCE);
      const outcomes = await Promise.all(items.map((item) => actOnInstance(this.#runtime, job, item)));
      this.#progress = count(this.#progress, outcomes);
      const renews = clock.monotonic() > this.#heldUntil - JOB_LEASE_MS / 2;
      if (renews && !(await this.#write("held"))) return false;
    }
    return true;
  }

  /** The job was cancelled while another owner had it: counts what that owner has done. */
  async #countDone(): Promise<boolean> {
    const { requests } = this.#runtime.store.engine;
    const { namespace } = this.#record;
    for (const item of this.#progress.batch) {
      const { key } = receiptOf(this.#record, item);
      if ((await requests.find({ namespace, key })) !== null)
        this.#progress = count(this.#progress, [{ kind: "done" }]);
    }
    return true;
  }

  /** The change of hooks and the count of it are one transaction, which ends the job after the last hook. */
  async #changeHooks(): Promise<"held" | "lost"> {
    const { store } = this.#runtime;
    const request = this.#request as Extract<StoredRequest, { target: "hooks" }>;
    const range = { after: this.#progress.cursor, limit: BATCH };
    const { items, continueAfter } = await findHooks(store, this.#record, request, range);
    const writtenAt = store.clock.monotonic();
    const { namespace, id } = this.#record;
    const lock = this.#record.lock as string;
    const before = { ...this.#progress, cursor: continueAfter };
    const result = await store.engine.jobs.changeHooks({ namespace, id, lock }, request.action, items, (changed) => {
      const { length } = changed;
      this.#progress = { ...before, done: before.done + length, skipped: before.skipped + items.length - length };
      return this.#toWrite(continueAfter === null ? "ended" : "held");
    });
    if (request.action === "redrive") store.work.post({ namespace, delayMs: 0 });
    return this.#noteResult(result, writtenAt) && continueAfter !== null ? "held" : "lost";
  }

  async #write(kind: "held" | "released" | "ended"): Promise<boolean> {
    const { store } = this.#runtime;
    const writtenAt = store.clock.monotonic();
    return this.#noteResult(await store.engine.jobs.write(this.#toWrite(kind)), writtenAt);
  }

  #toWrite(kind: "held" | "released" | "ended") {
    const { namespace, id } = this.#record;
    const outcome = kind === "held" ? ({ kind, leaseMs: JOB_LEASE_MS } as const) : ({ kind } as const);
    return { namespace, id, lock: this.#record.lock as string, progress: JSON.stringify(this.#progress), outcome };
  }

  #noteResult(result: JobWriteResult, writtenAt: number): boolean {
    if (result === "cancelled") this.#cancelled = true;
    this.#heldUntil = writtenAt + JOB_LEASE_MS;
    return result !== "lost";
  }
}
