import { isUnanswered } from "../errors.ts";
import type { NamespaceMeter } from "../monitoring/meters/meter.ts";
import type { Telemetry, TracedRun } from "../monitoring/tracing.ts";
import { ownerOfToken } from "../queue/owner.ts";
import {
  FINISHED_STATUSES,
  type InstanceChange,
  type InstanceCommit,
  type InstanceInsert,
  type InstanceInsertResult,
  type InstanceName,
  type InstanceRecord,
  type InstanceStatus,
  type NamedLease,
  versionName,
} from "../store/instances/instance-records.ts";
import { isLimited } from "../store/queue/rank.ts";
import type { Reservation } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";
import type { RegisteredWorkflows } from "./define/registered-workflows.ts";
import { endingTrigger } from "./define/terminal-hooks.ts";
import type { Execution } from "./execution/execution.ts";
import { type ExecutionHost, TurnQueue } from "./execution/execution-host.ts";
import { ProgressDrops } from "./execution/progress.ts";
import { type FinishedRun, ResultWaiters } from "./instances/results.ts";
import { refuseUnreadable } from "./instances/unreadable.ts";
import { Reacquisitions } from "./reacquisitions.ts";
import { StepStreams } from "./streams/step-streams.ts";
import { TimeoutKeeper } from "./timeout-keeper.ts";
import { InstanceWatchers } from "./views/instance-watchers.ts";

export type InstanceOperation = "pause" | "resume" | "terminate" | "rollBack" | "timeOut" | "restart" | "delete";

/** More than a process finishes within the time for which `isUnfinished` is asked. */
const MOST_REMEMBERED = 50_000;

/** After which a run has no events: their sequences are integers of four bytes. */
const LAST_SEQUENCE = 2_147_483_647;

/**
 * The workflows of one namespace in this process: it creates instances, knows the running executions, and tells waiters of
 * endings.
 */
export class WorkflowRuntime {
  readonly store: Store;
  readonly workflows: RegisteredWorkflows;
  readonly results: ResultWaiters;
  readonly watchers: InstanceWatchers;
  readonly streams: StepStreams;
  readonly meter: NamespaceMeter;
  readonly telemetry: Telemetry | null;
  /** Progress entries of ended steps, until they are deleted. */
  readonly progressDrops: ProgressDrops;
  readonly timeouts = new TimeoutKeeper(this);
  /** The services that all executions share. */
  readonly host: ExecutionHost;
  /** The executions of this process, by ref. */
  readonly live = new Map<string, Execution>();
  readonly reacquisitions = new Reacquisitions(this);
  /** Refs of the instances that this process finished last, so that `result` needn't ask the database about them. */
  readonly #finished = new Set<string>();
  #begun = 0;
  #scheduleChanges = 0;

  constructor(store: Store, workflows: RegisteredWorkflows, telemetry: Telemetry | null = null) {
    this.telemetry = telemetry;
    this.store = store;
    this.workflows = workflows;
    this.meter = store.meter.of(workflows.namespace);
    this.results = new ResultWaiters(store, workflows.namespace);
    this.watchers = new InstanceWatchers(store, workflows.namespace);
    this.streams = new StepStreams(store, workflows.settings.maxStreamBytes);
    this.progressDrops = new ProgressDrops(store.clock, (range) => store.instances.statements.dropProgress(range));
    this.host = this.#createHost();
  }

  get namespace(): string {
    return this.workflows.namespace;
  }

  /** Inserts instances. If a worker of this process has room, an instance starts as soon as it is committed. */
  async create(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    const reservations = instances.map((instance) => this.#reserve(instance));
    const writes = instances.map((instance, index) => withLease(instance, reservations[index] ?? null));
    let results: InstanceInsertResult[];
    try {
      results = await this.store.instances.insert(writes);
    } catch (error) {
      const unanswered = isUnanswered(error);
      for (const [index, reservation] of reservations.entries()) {
        const instance = writes[index] as InstanceInsert;
        const lease = () => ({ instance, ref: instance.ref, run: 1, lock: reservation?.lock as string });
        reservation?.cancel(unanswered ? () => this.giveBack(lease()) : undefined);
      }
      throw error;
    }
    for (let index = 0; index < results.length; index++) {
      const write = writes[index] as InstanceInsert;
      this.#created(write, reservations[index] ?? null, results[index] as InstanceInsertResult);
      this.timeouts.note(write.traits?.timeout ?? null);
    }
    return results;
  }

  /** This process has finished an instance of that age; null if it was deleted. */
  finished(instance: TracedRun, run: FinishedRun | null, ageMs = 0): void {
    if (run !== null) this.meter.workflows.of(instance.name).end(run.status, ageMs);
    if (run !== null) this.telemetry?.finished(instance, run.status);
    this.#finished.add(instance.ref);
    if (this.#finished.size > MOST_REMEMBERED) {
      const [oldest] = this.#finished;
      this.#finished.delete(oldest as string);
    }
    this.results.finished(instance, run);
    this.watchers.touched(instance.ref);
  }

  /** Whether an instance that was created here a moment ago can't have ended: this process runs it, or is the only process. */
  isUnfinished(ref: string): boolean {
    return this.live.has(ref) || (this.store.work.alone && !this.#finished.has(ref));
  }

  /** An event was sent to an instance, or an operator changed it: tells its owner, and makes it due if it has none. */
  touched(ref: string): void {
    const execution = this.live.get(ref);
    execution?.look();
    if (execution?.lettingGo !== false) this.#announceWork(); // another process may be its owner
  }

  #announceWork(): void {
    this.store.work.post({ namespace: this.namespace, delayMs: 0 });
    this.store.work.announce(this.namespace);
  }

  /** These instances waited for an end, and are due. */
  woke(refs: readonly string[]): void {
    for (const ref of new Set(refs)) this.touched(ref);
  }

  /** How many executions have begun. */
  get begun(): number {
    return this.#begun;
  }

  /** An execution begins in this process. */
  begins(execution: Execution): void {
    execution.order = ++this.#begun;
    this.live.set(execution.instance.ref, execution);
  }

  /**
   * Changes an instance, and tells its execution in this process. An execution that begins before the answer arrives already
   * has the changed instance: a restart must not end the run that it has begun.
   */
  async change(operation: InstanceOperation, ask: () => Promise<InstanceChange>): Promise<InstanceChange> {
    this.store.engine.refuseNesting();
    const begun = this.#begun;
    const change = await ask();
    if (change.changed && change.instance !== null) this.#changed(change.instance, operation, begun);
    if (change.woken !== undefined) this.woke(change.woken);
    return change;
  }

  #changed(instance: InstanceRecord, operation: InstanceOperation, begun: number): void {
    this.watchers.touched(instance.ref);
    const live = this.live.get(instance.ref);
    const execution = live !== undefined && live.order <= begun ? live : undefined;
    if (operation === "pause") {
      execution?.pause();
    } else if (operation === "resume" && execution !== undefined) {
      execution.resume();
      if (execution.lettingGo) this.#announceWork();
    } else {
      execution?.supersede();
      if (execution !== undefined) this.live.delete(instance.ref);
      const age = (instance.finishedAt ?? 0) - instance.createdAt;
      if (instance.status === "terminated" && operation !== "delete")
        this.finished(instance, { status: "terminated" }, age);
      if (operation === "delete") this.finished(instance, null);
      if (operation === "timeOut" && instance.status === "errored") {
        this.finished(instance, { status: "errored", error: instance.error as string }, age);
      }
      if (operation === "restart") this.timeouts.changed();
      if (this.telemetry !== null) void this.#traceEnd(this.telemetry, instance, operation);
      this.#announceWork();
    }
  }

  /** A run that a restart or a delete has ended: its spans must not lack their root. */
  async #traceEnd(telemetry: Telemetry, instance: InstanceRecord, operation: InstanceOperation): Promise<void> {
    if (operation === "delete" && !isOver(instance.status)) telemetry.finished(instance, "deleted");
    if (operation !== "restart") return;
    const range = { after: instance.run - 2, limit: 1 };
    const [past] = await this.store.instances.statements.pastRuns(instance, range).catch(() => []);
    if (past?.run !== instance.run - 1 || isOver(past.status)) return;
    telemetry.finished({ ...instance, run: past.run, startedAt: past.startedAt }, "restarted");
  }

  /** How many times operators have changed schedules in this process. */
  get scheduleChanges(): number {
    return this.#scheduleChanges;
  }

  /** An operator has paused or resumed schedules: wakes the schedule keepers. */
  schedulesChanged(): void {
    this.#scheduleChanges++;
    this.#announceWork();
  }

  /** The row may be leased to this process without running here: releases it. */
  async giveBack(lease: NamedLease): Promise<boolean> {
    const outcome = { kind: "released" } as const;
    const { result } = await this.store.instances.commit({
      ...lease,
      position: 1,
      limited: true,
      entries: [],
      outcome,
    });
    if (result === "written") this.store.work.post({ namespace: this.namespace, delayMs: 0 });
    return result === "written";
  }

  /**
   * Reserves a slot for a new instance. Null for an instance with limits, which must queue in its line, and for one that has an
   * event already, which is loaded when it is claimed.
   */
  #reserve({ namespace, name, version, traits, event }: InstanceInsert): Reservation<"instance"> | null {
    if (isLimited(traits) || event !== undefined) return null;
    return this.store.work.reserve("instance", namespace, versionName(name, version));
  }

  #createHost(): ExecutionHost {
    const { clock, instances, logger, engine } = this.store;
    return {
      clock,
      dialect: engine.dialect,
      meterOf: (name) => this.meter.workflows.of(name),
      trace: (instance) => this.telemetry?.runs(instance, ownerOfToken(instance.lock)) ?? null,
      transaction: (body, options) => engine.transaction(body, options),
      readCommit: async ({ position, instance }, { ref, run }) => {
        const after = { position: position - 1, sequence: LAST_SEQUENCE };
        const [history = null] = await engine.instances.load([{ ref, run, instance, after }]);
        return history;
      },
      limits: this.workflows.settings,
      turns: new TurnQueue(clock),
      commit: (commit, instance) => instances.commit(this.#withHook(commit, instance)),
      committed: (ref) => {
        this.watchers.touched(ref);
        this.progressDrops.sweep();
      },
      dropProgress: (range) => this.progressDrops.add(range),
      keepStream: (attempt, lease, stream) => this.streams.keep(attempt, lease, stream),
      openStream: (ref, reference, onFailure) => this.streams.open(ref, reference, onFailure),
      load: async (run, held, isWanted) => refuseUnreadable(await instances.load(run, held, isWanted)),
      beginLoad: () => instances.beginLoad(),
      loadEvents: async (request, held) => refuseUnreadable(await instances.loadEvents(request, held)),
      awaitEnd: (request) => instances.awaitEnd(request),
      woke: (refs) => this.woke(refs),
      reacquire: (execution) => void this.reacquisitions.reacquire(execution as Execution),
      stopsDiverged: (instance) => this.workflows.findVersion(instance)?.onDivergence === "stop",
      isStrict: (instance) => this.workflows.findVersion(instance)?.strict === true,
      warn: (message, details) => logger.warn(message, details),
    };
  }

  #withHook(commit: InstanceCommit, { namespace, name, id }: InstanceName): InstanceCommit {
    const { outcome, run } = commit;
    if (outcome.kind !== "completed" && outcome.kind !== "errored" && outcome.kind !== "terminated") return commit;
    if (this.workflows.find(name)?.endingHooks[outcome.kind] === undefined) return commit;
    const value = "output" in outcome ? (["output", outcome.output] as const) : null;
    const told = "error" in outcome ? (["error", outcome.error] as const) : value;
    return { ...commit, hook: endingTrigger({ namespace, name, id, run }, outcome.kind, told, this.store.createId) };
  }

  #created(write: InstanceInsert, reservation: Reservation<"instance"> | null, result: InstanceInsertResult): void {
    if (reservation !== null && result.result === "created" && result.ref === write.ref) {
      const { namespace, name, id, version, ref, params } = write;
      const { at } = result;
      const timeout = write.traits?.timeout;
      const history = {
        run: 1,
        recoveries: 0,
        wakes: 0,
        paused: false,
        schedule: write.traits?.schedule ?? null,
        trace: write.traits?.trace ?? null,
        slotKey: null,
        timeout: timeout ?? null,
        deadline: timeout == null ? null : at + timeout,
        rollingBack: null,
        begun: false,
        createdAt: at,
        startedAt: at,
        dueAt: at,
        claimedAt: at,
      };
      reservation.start({ namespace, name, id, version, ref, params, lock: reservation.lock, ...history });
      return;
    }
    const lease = { instance: write, ref: write.ref, run: 1, lock: reservation?.lock as string };
    // Sent again because its answer was lost, it may be leased to us.
    reservation?.cancel(result.result === "repeated" ? () => this.giveBack(lease) : undefined);
    if (result.result === "created") this.store.work.post({ namespace: this.namespace, delayMs: 0 });
  }
}

function withLease(instance: InstanceInsert, reservation: Reservation<"instance"> | null): InstanceInsert {
  if (reservation === null) return instance;
  const { lock, leaseMs } = reservation;
  return { ...instance, lease: { lock, leaseMs } };
}

function isOver(status: InstanceStatus): boolean {
  return (FINISHED_STATUSES as readonly InstanceStatus[]).includes(status);
}
