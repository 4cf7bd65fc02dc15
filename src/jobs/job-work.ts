import { type AttemptFailure, solitudeAfter, type Work } from "../queue/work.ts";
import type { ClaimedHook, HookOutcome } from "../store/hooks/hook-records.ts";
import { jobOfRow } from "../store/jobs/job-records.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { runSliceAndRest } from "./run-job.ts";

/** When to look again at a job that another process runs, or that could not be run. */
const RETRY_MS = 2000;

/**
 * One turn of a job: the worker has claimed the job's row beside hooks, and gives it back as long as the job hasn't ended. So
 * work that was due before the job's next turn comes first. A job is never given up: if its owner is lost, another worker takes
 * over.
 */
export class JobWork implements Work {
  readonly hook: ClaimedHook;
  readonly #runtime: WorkflowRuntime;
  #abandoned = false;

  constructor(hook: ClaimedHook, runtime: WorkflowRuntime) {
    this.hook = hook;
    this.#runtime = runtime;
  }

  get recovered(): boolean {
    return this.hook.recoveries > 0;
  }

  get solitudeMs(): number | null {
    return solitudeAfter(this.hook.recoveries);
  }

  get description(): string {
    return `job ${this.hook.namespace} ${jobOfRow(this.hook).id}`;
  }

  async execute(onEnd: () => void): Promise<AttemptFailure | null> {
    const job = jobOfRow(this.hook);
    const ran = await runSliceAndRest(this.#runtime, job.id);
    const record = await this.#runtime.store.engine.jobs.get(job);
    onEnd();
    if (this.#abandoned) return null;
    if (record === null || record.endedAt !== null) await this.#settle({ kind: "completed", keepMs: 0 });
    else if (ran) await this.release();
    else await this.giveBack();
    return null;
  }

  abandon(): void {
    this.#abandoned = true;
  }

  async release(): Promise<void> {
    await this.#settle({ kind: "released" });
    this.#post(0);
  }

  async giveBack(): Promise<boolean> {
    await this.#settle({ kind: "released", delayMs: RETRY_MS });
    this.#post(RETRY_MS);
    return true;
  }

  async #settle(outcome: HookOutcome): Promise<void> {
    const { namespace, id, lock } = this.hook;
    await this.#runtime.store.hooks.settle({ namespace, id, lock, keyed: false, outcome });
  }

  #post(delayMs: number): void {
    const { store, namespace } = this.#runtime;
    store.work.post({ namespace, delayMs });
  }
}
