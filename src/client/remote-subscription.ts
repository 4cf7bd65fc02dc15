import { PerdureError } from "../errors.ts";
import type { WorkflowInstanceEvent, WorkflowInstanceSubscription } from "../workflows/views/instance-event.ts";
import { readServerSentEvents, type ServerSentEvent } from "./server-sent-events.ts";
import { type EventStream, pause } from "./transport.ts";
import { fromWireEvent } from "./wire.ts";

/** Opens streams of events, and says whether the instance is finished. */
export interface EventServer {
  /**
   * Null if there are no more events. `again`: the stream was open before, so a failure to open it is no mistake of the caller.
   */
  open(after: number | undefined, signal: AbortSignal, again: boolean): Promise<EventStream | null>;
  isFinished(signal: AbortSignal): Promise<boolean>;
}

const ENDS: readonly string[] = ["workflow_completed", "workflow_errored", "workflow_terminated"];
const DONE = { done: true, value: undefined } as const;
const AGAIN_MS = 200;

/** How long a stream may be silent before it is given up, in milliseconds. */
function silenceOf({ heartbeatMs }: EventStream): number {
  return heartbeatMs * 2.5 + 2000;
}

type Result = IteratorResult<WorkflowInstanceEvent, void>;

/** The events of an instance on a server. When the connection is lost, another continues after the last event received. */
export class RemoteSubscription implements WorkflowInstanceSubscription {
  readonly #server: EventServer;
  readonly #closed = new AbortController();
  readonly #signal: AbortSignal;
  #cursor: number | undefined;
  #events: AsyncGenerator<ServerSentEvent, void> | undefined;
  /** Whether the instance was finished before the stream was opened: then the stream has all events. */
  #complete = false;
  #over = false;
  #asked: Promise<unknown> = Promise.resolve();

  constructor(server: EventServer, cursor: number | undefined, signal?: AbortSignal) {
    this.#server = server;
    this.#cursor = cursor;
    this.#signal = signal === undefined ? this.#closed.signal : AbortSignal.any([this.#closed.signal, signal]);
  }

  /** Opens the stream, so that a caller learns at once if there is no such instance. */
  async connect(again: boolean = false): Promise<void> {
    const stream = await this.#server.open(this.#cursor, this.#signal, again);
    if (stream === null) this.#over = true;
    else this.#events = readServerSentEvents(stream.body, silenceOf(stream));
  }

  /** Calls that are made at once are answered one after the other. */
  next(): Promise<Result> {
    const answer = this.#asked.then(() => this.#next());
    this.#asked = answer.catch(() => {});
    return answer;
  }

  async return(): Promise<Result> {
    this.#close();
    return DONE;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<WorkflowInstanceEvent, void> & this {
    return this as AsyncIterableIterator<WorkflowInstanceEvent, void> & this;
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  async #next(): Promise<Result> {
    try {
      while (!this.#over) {
        if (this.#events === undefined) await this.connect(true);
        const event = this.#events === undefined ? null : await this.#read(this.#events);
        if (event !== null) return { done: false, value: event };
      }
    } catch (error) {
      if (this.#closed.signal.aborted) return DONE; // closing isn't an error
      this.#close();
      throw error;
    }
    return DONE;
  }

  /** Null if the stream has ended. */
  async #read(events: AsyncGenerator<ServerSentEvent, void>): Promise<WorkflowInstanceEvent | null> {
    const read = await events.next().catch(() => "lost" as const);
    if (read !== "lost" && !read.done) return this.#take(read.value);
    this.#events = undefined;
    this.#signal.throwIfAborted();
    // With no event yet, the stream had everything only if the instance was finished before it was opened.
    if (this.#cursor === undefined && read !== "lost") {
      if (this.#complete) {
        this.#over = true;
        return null;
      }
      this.#complete = await this.#server.isFinished(this.#signal);
      if (this.#complete) return null;
    }
    await pause(AGAIN_MS, this.#signal);
    return null;
  }

  #take({ data }: ServerSentEvent): WorkflowInstanceEvent {
    const event = toEvent(data);
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

/** An unreadable event isn't requested again: it would be unreadable every time. */
function toEvent(data: string): WorkflowInstanceEvent {
  try {
    return fromWireEvent(JSON.parse(data) as Record<string, unknown>);
  } catch (cause) {
    throw new PerdureError("client.unexpected_answer", "The stream has an event that isn't in Perdure's format.", {
      cause,
    });
  }
}
