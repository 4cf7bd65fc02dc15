import { type AttemptAbortedError, CodecError, PerdureError, WorkflowDivergedError } from "../errors.ts";
import { type AlertTarget, raiseAlert, raiseCrashLoop } from "../monitoring/alerts.ts";
import {
  type AttemptFailure,
  DIVERGED_PAUSE_MS,
  solitudeAfter,
  UNREADABLE_PAUSE_MS,
  UNUSABLE_PAUSE_MS,
  type Work,
} from "../queue/work.ts";
import type { ClaimedInstance } from "../store/instances/instance-records.ts";
import { describeError, encodeError } from "../values/index.ts";
import { Execution } from "./execution/execution.ts";
import type { ExecutionEnd } from "./execution/execution-host.ts";
import { isUnprepared, prepareUnchecked } from "./instances/create/prepare-unchecked.ts";
import type { FinishedRun } from "./instances/results.ts";
import type { Reacquired } from "./reacquisitions.ts";
import { runWorkflow } from "./run-workflow.ts";
import type { WorkflowRuntime } from "./workflow-runtime.ts";

/** A claimed instance: it runs until it ends or parks. */
export class InstanceWork implements Work {
  readonly instance: ClaimedInstance;
  readonly execution: Execution;
  readonly #runtime: WorkflowRuntime;
  /** The parked execution that resumes, if there is one. */
  readonly #again: Reacquired | null;

  /** `askedAt` is the monotonic time at which the claim was sent. */
  constructor(instance: ClaimedInstance, askedAt: number, runtime: WorkflowRuntime) {
    this.instance = instance;
    this.#runtime = runtime;
    this.#again = runtime.reacquisitions.take(instance.lock);
    this.execution = this.#again?.execution ?? new Execution(instance, askedAt, runtime.host);
    if (this.#again !== null) this.execution.regain(this.#again.renewed);
  }

  get recovered(): boolean {
    return this.instance.recoveries > 0;
  }

  get solitudeMs(): number | null {
    return solitudeAfter(this.instance.recoveries);
  }

  get description(): string {
    return `workflow ${this.instance.name} ${this.instance.id}`;
  }

  get #target(): AlertTarget {
    return { kind: "instance", workflowName: this.instance.name, instanceId: this.instance.id };
  }

  async execute(
    onEnd: () => void,
    isHeld: () => boolean,
    onFailure: (failure: AttemptFailure) => void,
  ): Promise<AttemptFailure | null> {
    const runtime = this.#runtime;
    const { execution } = this;
    const { ref } = this.instance;
    execution.onAttemptFailed = ({ key, attempt }, error) =>
      onFailure({ error, description: `step ${key} of the ${this.description}`, attempt, final: false });
    const meter = runtime.meter.workflows.of(this.instance.name);
    meter.running++;
    runtime.begins(execution);
    runtime.watchers.touched(ref);
    try {
      // After a loss, the owner writes that it begins; an owner that is lost before that isn't counted.
      const held = !this.recovered || (await runtime.store.instances.confirm(execution.lease));
      if (!held) return null;
      raiseCrashLoop(runtime.store, runtime.namespace, this.#target, this.instance.recoveries);
      if (isOverdue(this.instance)) return await this.#timeOut(onEnd);
      if (isUnprepared(this.instance)) return await this.#prepare(onEnd, isHeld);
      return this.#settle(await this.#run(onEnd, isHeld));
    } catch (error) {
      if (error instanceof WorkflowDivergedError) return await this.#holdDiverged(error);
      if (!(error instanceof CodecError)) throw error;
      return await this.#postpone(error);
    } finally {
      meter.running--;
      execution.releaseLoad();
      if (runtime.live.get(ref) === execution) runtime.live.delete(ref);
    }
  }

  abandon(reason: AttemptAbortedError): void {
    this.execution.abandon(reason);
  }

  wrapUp(): void {
    this.execution.wrapUp();
  }

  async release(): Promise<void> {
    const { store, namespace } = this.#runtime;
    await this.execution.release();
    store.work.post({ namespace, delayMs: 0 }); // a worker that looked meanwhile saw it leased
  }

  giveUp(): void {
    this.execution.giveUp();
  }

  /** Errors of the database don't count as attempts. */
  async giveBack(): Promise<boolean> {
    const { store, namespace } = this.#runtime;
    await this.execution.giveBack(UNUSABLE_PAUSE_MS);
    store.work.post({ namespace, delayMs: UNUSABLE_PAUSE_MS });
    return true;
  }

  /** It was claimed before its timeout was noticed: it doesn't begin. */
  async #timeOut(onEnd: () => void): Promise<null> {
    const { ref, run, namespace, name, id, timeout } = this.instance;
    await this.#runtime.timeouts.end({ instance: { namespace, name, id }, ref, run, timeoutMs: timeout ?? 0 });
    onEnd();
    return null;
  }

  /** An instance that was created in SQL begins when it is claimed again, unless the workflow refuses its params. */
  async #prepare(onEnd: () => void, isHeld: () => boolean): Promise<AttemptFailure | null> {
    const { store, namespace } = this.#runtime;
    const refusal = await prepareUnchecked(this.#runtime, this.instance);
    if (refusal !== null) {
      this.execution.isHeld = isHeld;
      return this.#settle(await this.execution.run(() => Promise.reject(refusal), onEnd));
    }
    onEnd();
    store.work.post({ namespace, delayMs: 0 });
    return null;
  }

  #run(onEnd: () => void, isHeld: () => boolean): Promise<ExecutionEnd> {
    this.execution.isHeld = isHeld;
    if (this.#again !== null) {
      const { renewed, askedAt } = this.#again;
      return this.execution.continue({ ...renewed, askedAt }, onEnd);
    }
    const { name, begun, recoveries, claimedAt, dueAt, createdAt } = this.instance;
    const meter = this.#runtime.meter.workflows.of(name);
    meter.claimed(claimedAt - Math.max(dueAt, createdAt)); // a rank is earlier than every due time
    if (!begun && recoveries === 0) meter.start();
    const main = () => runWorkflow(this.#runtime, this.execution);
    const { trace } = this.execution;
    return this.execution.run(trace === null ? main : () => trace.run(main), onEnd);
  }

  /** Stored values can't be read, or new values can't be written, because of the codec: that isn't the workflow's fault. */
  async #postpone({ code, message }: CodecError): Promise<null> {
    const { store, namespace } = this.#runtime;
    const { name, id } = this.instance;
    const details = { namespace, workflow: name, instance: id, code, message };
    store.logger.warn("The values of an instance can't be read or written at present; trying again later.", details);
    await this.execution.postpone(UNREADABLE_PAUSE_MS);
    store.work.post({ namespace, delayMs: UNREADABLE_PAUSE_MS });
    return null;
  }

  /** The instance isn't at fault, and nothing is counted: it waits until a process has code that matches its history. */
  async #holdDiverged(error: WorkflowDivergedError): Promise<null> {
    const { store, namespace } = this.#runtime;
    const { name, id } = this.instance;
    const { expected, called } = error;
    store.logger.warn(
      "The code calls a new step where the history has another, which it hasn't called. The instance is held until its code matches.",
      { namespace, workflow: name, instance: id, expected, called },
    );
    raiseAlert(store, namespace, { kind: "diverged", target: this.#target, error: describeError(error) });
    await this.execution.postpone(DIVERGED_PAUSE_MS, encodeError(error));
    store.work.post({ namespace, delayMs: DIVERGED_PAUSE_MS });
    return null;
  }

  /** The commit has triggered a hook, if the workflow has one for this ending. */
  #tellOfHook(ending: "completed" | "errored" | "terminated"): void {
    const { store, namespace, workflows } = this.#runtime;
    if (workflows.find(this.instance.name)?.endingHooks[ending] === undefined) return;
    store.work.post({ namespace, delayMs: 0 });
  }

  #settle(end: ExecutionEnd): AttemptFailure | null {
    const { store, namespace } = this.#runtime;
    if (end.kind === "completed")
      this.#runtime.finished(this.instance, { status: "complete", output: end.output }, this.execution.age);
    if (end.kind === "parked" && end.delayMs !== null) store.work.post({ namespace, delayMs: end.delayMs });
    if (end.kind === "released") store.work.post({ namespace, delayMs: 0 });
    else if (this.instance.slotKey !== null) store.work.post({ namespace, delayMs: 0 }); // its slot is free for the next in line
    if (end.kind === "completed" || end.kind === "errored" || end.kind === "terminated") this.#tellOfHook(end.kind);
    if (end.kind !== "errored" && end.kind !== "terminated") return null;
    const { kind: status } = end;
    const told = end.kind === "errored" ? { status, error: end.error } : { status };
    this.#runtime.finished(this.instance, told as FinishedRun, this.execution.age);
    if ("rollbackError" in end) this.#tellOfFailedRollback(end.rollbackError);
    const error = end.kind === "errored" ? end.thrown : end.rollbackError;
    return error === undefined ? null : { error, description: this.description, attempt: 1, final: true };
  }

  #tellOfFailedRollback(error: unknown): void {
    const { name, id } = this.instance;
    const { name: failure } = describeError(error);
    this.#runtime.store.logger.warn("A rollback failed: the steps before it are not rolled back.", {
      workflow: name,
      instance: id,
      failure: error instanceof PerdureError ? error.code : failure,
    });
  }
}

/** Whether the run was to have ended before it was claimed. A rollback has no deadline. */
function isOverdue({ deadline, claimedAt, rollingBack }: ClaimedInstance): boolean {
  return deadline !== null && deadline <= claimedAt && rollingBack === null;
}
