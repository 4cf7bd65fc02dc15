import { pause, systemClock } from "../clock.ts";
import { PerdureError } from "../errors.ts";
import type { WorkflowInstanceEvent, WorkflowInstanceSubscription } from "../workflows/views/instance-event.ts";
import { LineReader } from "./stream-line.ts";

type Result = IteratorResult<WorkflowInstanceEvent, void>;
/** Opens the stream of an object, after an event if one is given. */
type Open = (cursor: number | undefined) => Promise<ReadableStream<Uint8Array>>;

const DONE = { done: true, value: undefined } as const;
const FIRST_PAUSE_MS = 50;
/** In a row, without an event in between. */
const MOST_FAILURES = 8;

/**
 * The events of an instance in one of many objects. When the object is lost, it continues with its successor, after the last
 * delivered event.
 */
export class RoutedSubscription implements WorkflowInstanceSubscription {
  readonly #open: Open;
  readonly #closed = new AbortController();
  #cursor: number | undefined;
  #lines: LineReader | undefined;
  #failures = 0;
  #asked: Promise<unknown> = Promise.resolve();

  constructor(open: Open, cursor: number | undefined) {
    this.#open = open;
    this.#cursor = cursor;
  }

  /** Waits until the object has answered, so that a missing instance is reported at once. */
  async connect(): Promise<this> {
    await this.#read();
    return this;
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

  [Symbol.asyncIterator](): this {
    return this;
  }

  [Symbol.dispose](): void {
    this.#close();
  }

  async #next(): Promise<Result> {
    while (!this.#closed.signal.aborted) {
      const event = await this.#read();
      if (event !== null && !this.#closed.signal.aborted) return { done: false, value: event };
    }
    return DONE;
  }

  /** The next line. Null where it has no event. */
  async #read(): Promise<WorkflowInstanceEvent | null> {
    const line = await this.#readLine();
    if (line === null) return null;
    this.#failures = 0;
    if ("opened" in line) this.#cursor ??= line.opened;
    else if ("event" in line) {
      this.#cursor = line.event.eventId;
      return line.event;
    } else {
      this.#close();
      if ("error" in line) throw line.error;
    }
    return null;
  }

  /** Null where the object was lost. */
  async #readLine(): ReturnType<LineReader["next"]> {
    let failure: unknown = new PerdureError("object.lost", "The object ended its stream before its end.");
    try {
      this.#lines ??= new LineReader(await this.#open(this.#cursor));
      const line = await this.#lines.next();
      if (line !== null) return line;
    } catch (error) {
      failure = error;
    }
    this.#lines = undefined;
    if (this.#closed.signal.aborted) return null;
    if (++this.#failures === MOST_FAILURES) {
      this.#close();
      throw failure;
    }
    await pause(systemClock, FIRST_PAUSE_MS * 2 ** (this.#failures - 1), this.#closed.signal);
    return null;
  }

  #close(): void {
    this.#closed.abort();
    this.#lines?.cancel();
  }
}
