import { systemClock } from "../clock.ts";
import { type Duration, parseDuration } from "../duration.ts";
import { ConflictError, NotFoundError, PerdureError, WorkflowFailedError, WorkflowTerminatedError } from "../errors.ts";
import type { Explanation } from "../monitoring/explanation.ts";
import { checkOptions } from "../options.ts";
import type {
  InstanceState,
  RestartRunOptions,
  SentEvent,
  UnreceivedEvents,
  WorkflowInstance,
} from "../workflows/instances/instance.ts";
import type { HistoryOptions, HistoryPage } from "../workflows/views/history-page.ts";
import type {
  StandardEventType,
  SubscribeOptions,
  WorkflowInstanceEventType,
  WorkflowInstanceSubscription,
} from "../workflows/views/instance-event.ts";
import type { Connection } from "./connection.ts";
import { RemoteSubscription } from "./remote-subscription.ts";
import { wasRepeated } from "./transport.ts";
import {
  fromWireDetails,
  fromWireExplanation,
  fromWireHistory,
  fromWireState,
  textOf,
  toWireEvent,
  type WireDetails,
  type WireExplanation,
  type WireHistory,
  type WireSummary,
} from "./wire.ts";

const ENDS = ["workflow_completed", "workflow_errored", "workflow_terminated"] as const;

/** An instance whose calls respect the limits of a connection. */
export function offerInstance(connection: Connection, workflowName: string, id: string): WorkflowInstance {
  return connection.offer((one) => new RemoteInstance(one, workflowName, id));
}

/** An instance on a server, with the interface of one in process. */
class RemoteInstance implements WorkflowInstance {
  readonly id: string;
  readonly workflowName: string;
  readonly #connection: Connection;

  constructor(connection: Connection, workflowName: string, id: string) {
    this.#connection = connection;
    this.workflowName = workflowName;
    this.id = id;
  }

  async status(): Promise<InstanceState> {
    return (await this.#read()).state;
  }

  async unreceivedEvents(): Promise<UnreceivedEvents> {
    return (await this.#read()).unreceived;
  }

  async result(options: { readonly timeout?: Duration; readonly signal?: AbortSignal } = {}): Promise<unknown> {
    checkOptions(options, { label: "result", fields: ["timeout", "signal"] });
    const { timeout, signal } = options;
    const late = new AbortController();
    const timer =
      timeout === undefined
        ? undefined
        : systemClock.setTimer(() => late.abort(this.#late()), parseDuration(timeout, "timeout"));
    const signals = [late.signal, ...(signal === undefined ? [] : [signal])];
    try {
      return await this.#result(AbortSignal.any(signals));
    } finally {
      timer?.cancel();
    }
  }

  async sendEvent(event: SentEvent<string, unknown>): Promise<void> {
    await this.#post("events", { body: toWireEvent(event) });
  }

  async pause(options: { readonly by?: string } = {}): Promise<void> {
    await this.#post("pause", { ...(options.by === undefined ? {} : { body: options }) });
  }

  async resume(): Promise<void> {
    await this.#post("resume");
  }

  async terminate(options: { readonly rollback?: boolean } = {}): Promise<void> {
    try {
      await this.#post("terminate", { ...(options.rollback === undefined ? {} : { body: options }) });
    } catch (error) {
      // This request itself may have terminated it, if the first answer was lost.
      const ours = error instanceof ConflictError && error.code === "instance.finished" && wasRepeated(error);
      if (!ours || (await this.#status()).status !== "terminated") throw error;
    }
  }

  async restart(options: RestartRunOptions = {}): Promise<void> {
    const given = options.from !== undefined || options.version !== undefined;
    await this.#post("restart", { ...(given ? { body: options } : {}) });
  }

  async retryFailedStep(): Promise<void> {
    await this.#post("retry");
  }

  async delete(): Promise<void> {
    try {
      await this.#connection.send({ method: "DELETE", path: this.#path() });
    } catch (error) {
      if (!(error instanceof NotFoundError && wasRepeated(error))) throw error;
    }
  }

  async explain(): Promise<Explanation> {
    const { body } = await this.#connection.send({ method: "GET", path: this.#path("explain") });
    return fromWireExplanation(body as WireExplanation);
  }

  async history(options: HistoryOptions = {}): Promise<HistoryPage> {
    const { run, order, limit, cursor, runsAfter } = options;
    const query = { run: textOf(run), order, limit: textOf(limit), cursor, runsAfter: textOf(runsAfter) };
    const { body } = await this.#connection.send({
      method: "GET",
      path: this.#path("history"),
      query,
    });
    return fromWireHistory(body as WireHistory);
  }

  async subscribe<const Type extends WorkflowInstanceEventType = StandardEventType>(
    options: SubscribeOptions<Type> = {},
  ): Promise<WorkflowInstanceSubscription<Type>> {
    checkOptions(options, { label: "subscribe", fields: ["cursor", "filter"] });
    return (await this.#subscribe(options, this.#connection.signal)) as unknown as WorkflowInstanceSubscription<Type>;
  }

  async #result(signal: AbortSignal): Promise<unknown> {
    for (;;) {
      const state = await this.#status(signal, true);
      if (state.status === "complete") return state.output;
      if (state.status === "errored") throw new WorkflowFailedError(this.workflowName, this.id, toError(state));
      if (state.status === "terminated") throw new WorkflowTerminatedError(this.workflowName, this.id);
      const subscription = await this.#subscribe({ filter: ENDS }, signal, true);
      await subscription.next().finally(() => subscription.return());
      signal.throwIfAborted();
    }
  }

  async #subscribe(
    { cursor, filter }: SubscribeOptions,
    signal?: AbortSignal,
    patient: boolean = false,
  ): Promise<WorkflowInstanceSubscription> {
    const open = (after: number | undefined, closed: AbortSignal, again: boolean) => {
      const query = { cursor: textOf(after), filter };
      const request = { method: "GET", path: this.#path("subscribe"), query } as const;
      return (again ? this.#connection.lasting : this.#connection).open({
        ...request,
        signal: closed,
        patient: again || patient,
      });
    };
    const lasting = new RemoteInstance(this.#connection.lasting, this.workflowName, this.id);
    const isFinished = async (closed: AbortSignal) => (await lasting.#status(closed, true)).finishedAt !== null;
    const subscription = new RemoteSubscription({ open, isFinished }, cursor, signal);
    await subscription.connect();
    return subscription;
  }

  async #read() {
    const { body } = await this.#connection.send({ method: "GET", path: this.#path() });
    return fromWireDetails(body as WireDetails);
  }

  /** Without what takes reading: the params and the events. */
  async #status(signal?: AbortSignal, patient: boolean = false): Promise<InstanceState> {
    const request = { method: "GET", path: this.#path(), query: { details: "false" }, signal, patient } as const;
    const { body } = await this.#connection.send(request);
    const { id: _id, workflowName: _name, ...state } = fromWireState(body as WireSummary);
    return state;
  }

  async #post(part: string, { body }: { readonly body?: unknown } = {}): Promise<void> {
    await this.#connection.send({ method: "POST", path: this.#path(part), body });
  }

  #path(...part: readonly string[]): readonly string[] {
    return ["workflows", this.workflowName, "instances", this.id, ...part];
  }

  #late(): PerdureError {
    return new PerdureError(
      "result.timeout",
      `The instance "${this.id}" wasn't finished in time; it continues to run.`,
    );
  }
}

function toError({ error }: InstanceState): Error {
  return Object.assign(new Error(error?.message ?? ""), { name: error?.name ?? "Error" });
}
