import { parseDuration } from "../../duration.ts";
import {
  ConflictError,
  InvalidInputError,
  instanceNotFound,
  NotFoundError,
  type PerdureError,
  WorkflowFailedError,
  WorkflowTerminatedError,
} from "../../errors.ts";
import { checkText } from "../../hooks/names.ts";
import { explainInstance } from "../../monitoring/explain-instance.ts";
import type { Explanation } from "../../monitoring/explanation.ts";
import { checkOptions } from "../../options.ts";
import type { HookInsert } from "../../store/hooks/hook-records.ts";
import type {
  InstanceChange,
  InstanceName,
  InstanceRecord,
  InstanceRun,
  InstanceTarget,
  KeptEntries,
  RestartRequest,
} from "../../store/instances/instance-records.ts";
import type { Receipt } from "../../store/request-statements.ts";
import { decodeValue } from "../../values/index.ts";
import { isRegistered, type RegisteredWorkflow } from "../define/registered-workflows.ts";
import { endingTrigger } from "../define/terminal-hooks.ts";
import type { EventPayloads } from "../define/workflow-event.ts";
import type { HistoryOptions, HistoryPage } from "../views/history-page.ts";
import type {
  StandardEventType,
  SubscribeOptions,
  WorkflowInstanceEventType,
  WorkflowInstanceSubscription,
} from "../views/instance-event.ts";
import { readHistory } from "../views/read-history.ts";
import { parseSubscribeOptions, subscribe } from "../views/subscribe.ts";
import type { InstanceOperation, WorkflowRuntime } from "../workflow-runtime.ts";
import type {
  InstanceState,
  RestartRunOptions,
  ResultOptions,
  SentEvent,
  UnreceivedEvents,
  WorkflowInstance,
} from "./instance.ts";
import { toState } from "./instance-state.ts";
import {
  checkRestartPoint,
  groupBySteps,
  keepEntriesOf,
  keptBefore,
  keptWithoutFailed,
  type StepEntries,
} from "./kept-entries.ts";
import { prepareEvent } from "./prepare-event.ts";
import { finishedAlready, runChanged, tooManyEvents } from "./refusals.ts";
import { toFinishedRun, waitForRun } from "./results.ts";
import { findsTerminationHook } from "./termination-hook.ts";
import { findUnreadable } from "./unreadable.ts";
import { readUnreceivedEvents } from "./unreceived-events.ts";

/**
 * For how long `result` of a new instance needs no query while this process runs it: only another process could have ended it.
 */
const KNOWN_MS = 1000;

/** After these operations the calling run has ended: its code must not continue. */
type CallersOperation = Exclude<InstanceOperation, "timeOut">;

const ENDS_RUN: ReadonlySet<InstanceOperation> = new Set(["terminate", "rollBack", "restart", "delete"]);

interface HandleOptions {
  readonly createdRef?: string | null;
  readonly callerRef?: string | null;
  readonly only?: InstanceRun | undefined;
  readonly receipt?: Receipt | undefined;
  readonly caller?: ResultCaller | null;
  /** Whether the holder of the handle may see an instance with these labels. Otherwise there is none for it. Default: all. */
  readonly sees?: ((labels: string | null) => boolean) | undefined;
}

/** The code of an instance, which can wait for the ends of others without a slot. */
export interface ResultCaller {
  /** Null where the code can't wait like that: inside a step's body. */
  awaitResult(child: InstanceName, options: ResultOptions): Promise<unknown> | null;
}

/** An instance, by its name. */
export class InstanceHandle<Output = unknown, Events extends EventPayloads = EventPayloads>
  implements WorkflowInstance<Output, Events>
{
  readonly id: string;
  readonly workflowName: string;
  readonly #runtime: WorkflowRuntime;
  readonly #workflow: RegisteredWorkflow;
  readonly #name: InstanceTarget;
  /** If this handle has just created it: its ref, and until when this process knows by itself that it hasn't ended. */
  readonly #created: { readonly ref: string; readonly knownUntil: number } | null;

  /** The ref of the instance whose code has this handle; null outside a workflow. */
  readonly #callerRef: string | null;
  /** The code that has this handle; null outside a workflow. */
  readonly #caller: ResultCaller | null;
  readonly #sees: (labels: string | null) => boolean;

  /**
   * With `only`, operations apply to that run or to none. With `receipt`, one is done once by all handles that have this
   * receipt.
   */
  constructor(
    runtime: WorkflowRuntime,
    workflow: RegisteredWorkflow,
    id: string,
    { createdRef = null, callerRef = null, only, receipt, caller = null, sees = () => true }: HandleOptions = {},
  ) {
    this.id = id;
    this.workflowName = workflow.name;
    this.#runtime = runtime;
    this.#workflow = workflow;
    const name = { namespace: runtime.namespace, name: workflow.name, id };
    const restricted = only !== undefined || receipt !== undefined;
    this.#name = restricted ? { ...name, ...(only && { only }), ...(receipt && { receipt }) } : name;
    const knownUntil = runtime.store.clock.monotonic() + KNOWN_MS;
    this.#created = createdRef === null ? null : { ref: createdRef, knownUntil };
    this.#callerRef = callerRef;
    this.#caller = caller;
    this.#sees = sees;
  }

  async status(): Promise<InstanceState<Output>> {
    const record = await this.#record();
    const state = toState(record, this.#runtime) as InstanceState<Output>;
    const unreadable = await findUnreadable(this.#runtime.store, record);
    return unreadable === null ? state : { ...state, unreadable };
  }

  async unreceivedEvents(): Promise<UnreceivedEvents> {
    return readUnreceivedEvents(this.#runtime.store, await this.#record());
  }

  result(options: ResultOptions = {}): Promise<Output> {
    const result = this.#result(options);
    if (this.#caller !== null) result.catch(() => {}); // the code of a workflow may fail before it awaits this
    return result;
  }

  /** The same for the code of an instance, wherever it has this handle from. */
  async resultFor(caller: ResultCaller, { store }: WorkflowRuntime, options: ResultOptions): Promise<Output> {
    if (this.#runtime.store === store) return this.#result(options, caller);
    throw new InvalidInputError(
      "step.invalid",
      "step.result takes an instance of this application: one of another can't wake this workflow. Poll its status in steps.",
    );
  }

  async #result(options: ResultOptions, caller = this.#caller): Promise<Output> {
    checkOptions(options, { label: "result", fields: ["timeout", "signal"] });
    const durable = caller?.awaitResult(this.#name, options) ?? null;
    if (durable !== null) return durable as Promise<Output>;
    const { timeout, signal } = options;
    const timeoutMs = timeout === undefined ? null : parseDuration(timeout, "timeout");
    signal?.throwIfAborted();
    const { results, store } = this.#runtime;
    const wait = { look: !this.#isUnfinished, timeoutMs, signal };
    const run = await waitForRun({ results, clock: store.clock }, this.#name, wait);
    if (run === null) throw this.#instanceNotFound();
    if (run.status === "complete") return decodeValue(run.output) as Output;
    if (run.status === "errored") throw new WorkflowFailedError(this.workflowName, this.id, decodeValue(run.error));
    throw new WorkflowTerminatedError(this.workflowName, this.id);
  }

  async sendEvent<Type extends keyof Events & string>(event: SentEvent<Type, Events[Type]>): Promise<void> {
    const insert = await prepareEvent(this.#runtime, this.#workflow, this.#name, event);
    const sent = await this.#runtime.store.instances.sendEvent(insert);
    if (sent.result === "repeated") return;
    if (sent.result === "missing" || sent.result === "over") throw await this.#missing();
    if (sent.result === "finished") throw finishedAlready(this.#name, "no event can be sent to it");
    if (sent.result === "full") throw tooManyEvents(this.#name, insert.maxPending);
    this.#runtime.touched(sent.ref);
  }

  async pause(options: { readonly by?: string } = {}): Promise<void> {
    checkOptions(options, { label: "pause", fields: ["by"] });
    const by = options.by === undefined ? null : checkText(options.by, "by");
    const { changed } = await this.#change("pause", undefined, by);
    if (!changed) throw finishedAlready(this.#name, "it can't be paused");
  }

  async resume(): Promise<void> {
    const { changed, instance } = await this.#change("resume");
    if (!changed && isFinished(instance)) throw finishedAlready(this.#name, "it can't be resumed");
  }

  async terminate(options: { readonly rollback?: boolean } = {}): Promise<void> {
    checkOptions(options, { label: "terminate", fields: ["rollback"] });
    const { rollback = false } = options;
    if (typeof rollback !== "boolean")
      throw new InvalidInputError("options.invalid", "rollback must be true or false.");
    const { changed, instance } = await this.#change(rollback ? "rollBack" : "terminate");
    if (!changed && isFinished(instance)) throw finishedAlready(this.#name, "it can't be terminated");
  }

  async restart(options: RestartRunOptions = {}): Promise<void> {
    checkOptions(options, { label: "restart", fields: ["from", "version"] });
    const version = this.#parseVersion(options.version);
    if (options.from !== undefined) {
      const from = checkRestartPoint(options.from, this.#runtime.workflows.settings.maxStepName);
      await this.#restartWith("received", version, (steps, { ref }) => {
        const running = this.#runtime.live.get(ref);
        return keptBefore(steps, from, (path) => running?.code.placeOf(path) ?? null);
      });
      return;
    }
    const { instance } = await this.#change("restart", { statuses: null, params: null, version });
    if (instance === null) return;
    const { ref, run } = instance;
    this.#runtime.store.streams.statements.wipeRuns(ref, run).catch(() => {}); // otherwise they are deleted with the instance
  }

  /** Kept results may be streams of earlier runs: those stay, and are deleted with the instance. */
  async retryFailedStep(): Promise<void> {
    await this.#restartWith("all", null, (steps, { status, error }) => {
      if (status === "errored") return keptWithoutFailed(steps, error as string);
      throw new ConflictError(
        "instance.not_errored",
        `The instance "${this.id}" is ${status}: no step of it has failed.`,
      );
    });
  }

  async delete(): Promise<void> {
    await this.#change("delete");
  }

  explain(): Promise<Explanation> {
    const { store, workflows } = this.#runtime;
    return explainInstance(store, this.#name, workflows.limitsOf(this.workflowName), this.#sees);
  }

  async history(options: HistoryOptions = {}): Promise<HistoryPage> {
    return readHistory(this.#runtime, await this.#record(), options);
  }

  async subscribe<const Type extends WorkflowInstanceEventType = StandardEventType>(
    options: SubscribeOptions<Type> = {},
  ): Promise<WorkflowInstanceSubscription<Type>> {
    const parsed = parseSubscribeOptions(options);
    return subscribe(this.#runtime, await this.#record(), parsed) as unknown as WorkflowInstanceSubscription<Type>;
  }

  async #record(): Promise<InstanceRecord> {
    const [record] = await this.#runtime.store.instances.statements.find([this.#name]);
    if (record === null || record === undefined || !this.#sees(record.labels)) throw this.#instanceNotFound();
    return record;
  }

  /** Begins the next run with the chosen steps of this one. If another caller restarts it at the same time, reads it again. */
  async #restartWith(
    events: KeptEntries["events"],
    version: number | null,
    choose: (steps: StepEntries[], record: InstanceRecord) => StepEntries[],
  ): Promise<void> {
    while (!(await this.#isRepeated())) {
      const record = await this.#record();
      const { instances } = this.#runtime.store;
      const held = instances.beginLoad();
      const present = { ref: record.ref, run: record.run, instance: record };
      const history = await instances.load(present, held).finally(() => held.release());
      if (history === null) continue;
      const entries = keepEntriesOf(choose(groupBySteps(history.entries), record));
      const kept = { run: record.run, ...entries, events };
      const { changed } = await this.#change("restart", { statuses: null, params: null, kept, version });
      if (changed) return;
    }
  }

  /** Null keeps the version that the instance has. */
  #parseVersion(version: unknown): number | null {
    if (version === undefined) return null;
    if (version === "newest" && isRegistered(this.#workflow)) return this.#workflow.version;
    if (version === "newest") {
      throw new NotFoundError(
        "workflow.not_found",
        `This process lacks the code of the workflow "${this.workflowName}", so it doesn't know the newest version. ` +
          "Restart the instance in a process that has it, or let it keep its version.",
      );
    }
    throw new InvalidInputError("options.invalid", 'version must be "newest", or be left out to keep the version.');
  }

  async #ask(operation: CallersOperation, restart?: RestartRequest, by?: string | null): Promise<InstanceChange> {
    const { statements } = this.#runtime.store.instances;
    if (operation === "pause") return statements.pause(this.#name, by);
    if (operation === "restart") return statements.restart(this.#name, restart);
    if (operation === "terminate" || operation === "rollBack") {
      return statements[operation](this.#name, await this.#terminationHook());
    }
    return statements[operation](this.#name);
  }

  async #change(operation: CallersOperation, restart?: RestartRequest, by?: string | null): Promise<InstanceChange> {
    const change = await this.#runtime.change(operation, () => this.#ask(operation, restart, by));
    if (change.repeated) return { changed: true, instance: null };
    if (change.instance === null) throw await this.#missing();
    if (change.changed && change.instance.ref === this.#callerRef && ENDS_RUN.has(operation)) await never();
    return change;
  }

  /** Whether this very request has been done before: then its instance may look as if it couldn't be. */
  async #isRepeated(): Promise<boolean> {
    const { namespace, receipt } = this.#name;
    if (receipt === undefined) return false;
    return (await this.#runtime.store.engine.requests.find({ namespace, key: receipt.key })) !== null;
  }

  async #terminationHook(): Promise<((run: number) => HookInsert) | undefined> {
    if (!(await findsTerminationHook(this.#runtime, this.#workflow))) return undefined;
    return (run) => endingTrigger({ ...this.#name, run }, "terminated", null, this.#runtime.store.createId);
  }

  /** Whether no query is needed: it was created a moment ago, and this process hasn't finished it. */
  get #isUnfinished(): boolean {
    if (this.#created === null) return false;
    const { ref, knownUntil } = this.#created;
    return this.#runtime.store.clock.monotonic() < knownUntil && this.#runtime.isUnfinished(ref);
  }

  /** The instance doesn't exist, or isn't in the run that was meant. */
  async #missing(): Promise<PerdureError> {
    if (this.#name.only === undefined) return this.#instanceNotFound();
    const [record] = await this.#runtime.store.instances.statements.find([this.#name]);
    if (record === null || record === undefined || !this.#sees(record.labels)) return this.#instanceNotFound();
    return runChanged(this.#name);
  }

  #instanceNotFound(): NotFoundError {
    return instanceNotFound(this.workflowName, this.id);
  }
}

function isFinished(instance: InstanceRecord | null): boolean {
  return instance !== null && toFinishedRun(instance) !== undefined;
}

/** Never resolves, and holds nothing: the code that awaits it is dropped with its run. */
function never(): Promise<never> {
  return new Promise(() => {});
}
