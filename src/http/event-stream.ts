import type { Clock, Timer } from "../clock.ts";
import { HttpError } from "./http-error.ts";

/** One event, as a browser's EventSource sees it. */
export interface StreamEvent {
  /** What a reader that comes back says it has seen. */
  readonly id: string;
  readonly type: string;
  /** JSON. */
  readonly data: unknown;
}

/** What is read until it ends, or until its reader has gone. */
export interface EventSubscription {
  next(): Promise<IteratorResult<StreamEvent, void>>;
  return(): Promise<unknown>;
}

export interface StreamSettings {
  readonly clock: Clock;
  /** A comment is sent after so long without an event, so that nobody between takes the connection for dead. */
  readonly heartbeatMs: number;
  readonly maxStreams: number;
  /** Hears why a stream ended early: its reader is only cut off, and comes back with its cursor. */
  readonly onError: (error: unknown) => void;
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies that collect an answer, and middleware that compresses it, would hold events back.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/**
 * The streams of events that are open. One holds at most one event that wasn't read yet, and the next is asked for when that has
 * gone; so a slow reader costs no more than a fast one.
 */
export class EventStreams {
  readonly #settings: StreamSettings;
  #open = 0;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
  }

  get open(): number {
    return this.#open;
  }

  /** Answers with a stream, or with nothing where the reader has seen all. Not asked where there are too many already. */
  async answer(request: Request, subscribe: () => Promise<EventSubscription | null>): Promise<Response> {
    const { maxStreams } = this.#settings;
    if (this.#open >= maxStreams) {
      throw new HttpError(503, "http.too_many_streams", `There are ${maxStreams} open streams already. Try again.`, {
        headers: { "retry-after": "5" },
      });
    }
    this.#open += 1;
    const release = () => {
      this.#open -= 1;
    };
    const subscription = await subscribe().catch((error: unknown) => {
      release();
      throw error;
    });
    if (subscription === null) {
      release();
      return new Response(null, { status: 204 });
    }
    const body = new OpenStream(subscription, request.signal, this.#settings, release).stream;
    return new Response(body, { headers: HEADERS });
  }
}

/** One stream. */
class OpenStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #subscription: EventSubscription;
  readonly #settings: StreamSettings;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: Timer | undefined;
  #end: (() => void) | undefined;

  constructor(subscription: EventSubscription, signal: AbortSignal, settings: StreamSettings, release: () => void) {
    this.#subscription = subscription;
    this.#settings = settings;
    const abort = () => this.#close();
    this.#end = () => {
      signal.removeEventListener("abort", abort);
      release();
    };
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#write(": connected\n\n"); // so that whoever waits for the first bytes knows that it is open
        },
        pull: () => this.#pull(),
        cancel: () => this.#close(),
      },
      { highWaterMark: 1 },
    );
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  }

  async #pull(): Promise<void> {
    this.#beat();
    try {
      const { done, value } = await this.#subscription.next();
      if (done) this.#close();
      else this.#write(format(value));
    } catch (error) {
      if (this.#end !== undefined) this.#settings.onError(error);
      this.#close();
    } finally {
      this.#timer?.cancel();
    }
  }

  /** While an event is waited for. A reader that takes nothing gets nothing. */
  #beat(): void {
    const { clock, heartbeatMs } = this.#settings;
    this.#timer = clock.setTimer(() => {
      if ((this.#controller?.desiredSize ?? 0) > 0) this.#write(": waiting\n\n");
      this.#beat();
    }, heartbeatMs);
  }

  #write(text: string): void {
    if (this.#end !== undefined) this.#controller?.enqueue(this.#encoder.encode(text));
  }

  /** Once, whoever ends it: the subscription, its reader, or the connection. */
  #close(): void {
    const end = this.#end;
    if (end === undefined) return;
    this.#end = undefined;
    this.#timer?.cancel();
    end();
    void Promise.resolve(this.#subscription.return()).catch(this.#settings.onError);
    try {
      this.#controller?.close();
    } catch {
      // its reader has cancelled it
    }
  }
}

function format({ id, type, data }: StreamEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
