import type { WorkflowInstanceEvent, WorkflowInstanceSubscription } from "../workflows/views/instance-event.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";
import { pause } from "./transport.ts";
import { fromWireEvent } from "./wire.ts";

/** How a stream is opened after an event, and whether the instance is finished. */
export interface EventServer {
  /** Null where everything was told already. */
  open(after: number | undefined, signal: AbortSignal): Promise<ReadableStream<Uint8Array> | null>;
  isFinished(signal: AbortSignal): Promise<boolean>;
}

const ENDS: readonly string[] = ["workflow_completed", "workflow_errored", "workflow_terminated"];
const DONE = { done: true, value: undefined } as const;
const AGAIN_MS = 200;

/** The events of an instance on a server. When the connection is lost, it goes on with the next, after the last event that came. */
export class RemoteSubscription implements WorkflowInstanceSubscription {
  readonly #server: EventServer;
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;
  #cursor: number | undefined;
  #events: AsyncGenerator<ServerSentEvent, void> | undefined;
  #over = false;

  constructor(server: EventServer, cursor: number | undefined, signal?: AbortSignal) {
    this.#server = server;
    this.#cursor = cursor;
    this.#signal = signal === undefined ? this.#closed.signal : AbortSignal.any([this.#closed.signal, signal]);
  }

  /** Opens the stream, so that who asks for an instance that isn't there is told at once. */
  async connect(): Promise<void> {
    const stream = await this.#server.open(this.#cursor, this.#signal);
    if (stream === null) this.#over = true;
    else this.#events = readServerSentEvents(stream);
  }

  async next(): Promise<IteratorResult<WorkflowInstanceEvent, void>> {
    while (!this.#over) {
      if (this.#events === undefined) await this.connect();
      const event = await this.#read();
      if (event !== null) return { done: false, value: event };
    }
    return DONE;
  }

  async return(): Promise<IteratorResult<WorkflowInstanceEvent, void>> {
    this.#close();
    return DONE;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<WorkflowInstanceEvent, void> & this {
    return this as AsyncIterableIterator<WorkflowInstanceEvent, void> & this;
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  /** Null where the stream has ended. */
  async #read(): Promise<WorkflowInstanceEvent | null> {
    try {
      const { done, value } = (await this.#events?.next()) ?? DONE;
      if (!done) return this.#take(value);
    } catch {
      if (this.#signal.aborted) throw this.#signal.reason; // else the connection was lost
    }
    this.#events = undefined;
    if (this.#closed.signal.aborted) this.#over = true;
    else if (this.#cursor === undefined && (await this.#server.isFinished(this.#signal))) this.#over = true;
    else await pause(AGAIN_MS, this.#signal);
    return null;
  }

  #take({ data }: ServerSentEvent): WorkflowInstanceEvent {
    const event = fromWireEvent(JSON.parse(data));
    this.#cursor = event.eventId;
    if (ENDS.includes(event.type)) this.#close();
    return event;
  }

  #close(): void {
    this.#over = true;
    this.#closed.abort();
    void this.#events?.return().catch(() => {});
  }
}
