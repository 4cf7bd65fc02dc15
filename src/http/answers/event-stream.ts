import type { Clock, Timer } from "../../clock.ts";
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
  /** Bytes of events that were sent and not taken by their readers, of all streams together. */
  readonly maxUnreadBytes: number;
  /** Hears why a stream ended early: its reader is only cut off, and comes back with its cursor. */
  readonly onError: (error: unknown) => void;
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies that collect an answer, and middleware that compresses it, would hold events back.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** Tells clients after how much silence a stream is broken. */
export const HEARTBEAT_HEADER = "perdure-heartbeat-ms";

/**
 * The streams of events that are open. One holds at most one event that wasn't read yet, and the next is asked for when that has
 * gone; so a slow reader costs no more than a fast one. Where those events are too large together, the readers that have left theirs for
 * the longest are cut off: they come back with their cursors when they can.
 */
export class EventStreams {
  readonly #settings: StreamSettings;
  readonly #unread: UnreadEvents;
  #open = 0;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
    this.#unread = new UnreadEvents(settings.maxUnreadBytes);
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
    const parts = { subscription, signal: request.signal, settings: this.#settings, unread: this.#unread, release };
    const { heartbeatMs } = this.#settings;
    return new Response(new OpenStream(parts).stream, {
      headers: { ...HEADERS, [HEARTBEAT_HEADER]: String(heartbeatMs) },
    });
  }
}

/** What streams have sent and their readers haven't taken, oldest first. */
class UnreadEvents {
  readonly #most: number;
  readonly #bytes = new Map<OpenStream, number>();
  #total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** One that is larger than all may be together is sent all the same: no other would be smaller. */
  add(stream: OpenStream, bytes: number): void {
    this.#bytes.set(stream, bytes);
    this.#total += bytes;
    for (const slow of this.#bytes.keys()) {
      if (this.#total <= this.#most || slow === stream) return;
      slow.cutOff();
    }
  }

  remove(stream: OpenStream): void {
    this.#total -= this.#bytes.get(stream) ?? 0;
    this.#bytes.delete(stream);
  }
}

interface StreamParts {
  readonly subscription: EventSubscription;
  readonly signal: AbortSignal;
  readonly settings: StreamSettings;
  readonly unread: UnreadEvents;
  readonly release: () => void;
}

/** One stream. */
class OpenStream {
  readonly stream: ReadableStream<Uint8Array>;
  readonly #subscription: EventSubscription;
  readonly #settings: StreamSettings;
  readonly #unread: UnreadEvents;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #timer: Timer | undefined;
  #end: (() => void) | undefined;

  constructor({ subscription, signal, settings, unread, release }: StreamParts) {
    this.#subscription = subscription;
    this.#settings = settings;
    this.#unread = unread;
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
      { highWaterMark: 0 }, // the next event is asked for when the reader wants it, and no sooner
    );
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  }

  /** Ends the connection, and with it what is on its way to a reader that doesn't take it. */
  cutOff(): void {
    const controller = this.#controller;
    this.#finish();
    controller?.error(new TypeError("The reader is too slow. It may come back with the id of its last event."));
  }

  async #pull(): Promise<void> {
    this.#unread.remove(this); // whoever asks for more has taken what there was
    this.#beat();
    try {
      const { done, value } = await this.#subscription.next();
      if (done) this.#close();
      else this.#writeEvent(value);
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
      if ((this.#controller?.desiredSize ?? -1) >= 0) this.#write(": waiting\n\n");
      this.#beat();
    }, heartbeatMs);
  }

  #write(text: string): void {
    if (this.#end !== undefined) this.#controller?.enqueue(this.#encoder.encode(text));
  }

  #writeEvent(event: StreamEvent): void {
    const bytes = this.#encoder.encode(format(event));
    if (this.#end === undefined) return;
    this.#controller?.enqueue(bytes);
    this.#unread.add(this, bytes.length);
  }

  /** Once, whoever ends it: the subscription, its reader, or the connection. Gives whether this was it. */
  #finish(): boolean {
    const end = this.#end;
    if (end === undefined) return false;
    this.#end = undefined;
    this.#timer?.cancel();
    this.#unread.remove(this);
    end();
    void Promise.resolve(this.#subscription.return()).catch(this.#settings.onError);
    return true;
  }

  #close(): void {
    if (!this.#finish()) return;
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
