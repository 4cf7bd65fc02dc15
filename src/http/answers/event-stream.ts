import type { Clock, Timer } from "../../clock.ts";
import type { Access } from "../access/access.ts";
import { CallerLimits } from "../access/caller-limits.ts";
import { HttpError } from "./http-error.ts";

/** One event, as a browser's EventSource sees it. */
export interface StreamEvent {
  /** A reader that reconnects sends the last id that it has received. */
  readonly id: string;
  readonly type: string;
  /** JSON. */
  readonly data: unknown;
}

/** The events of a stream, read until they end or the reader disconnects. */
export interface EventSubscription {
  next(): Promise<IteratorResult<StreamEvent, void>>;
  return(): Promise<unknown>;
}

export interface StreamSettings {
  readonly clock: Clock;
  /** A comment is sent after this long without an event, so that no proxy takes the connection for dead. */
  readonly heartbeatMs: number;
  readonly maxStreams: number;
  readonly maxStreamsPerCaller: number;
  /** Then its reader must reconnect. */
  readonly maxStreamAgeMs: number;
  /** How often it is checked whether the reader may still read it. */
  readonly recheckMs: number;
  /** Bytes of events that were sent but not read yet, in all streams together. */
  readonly maxUnreadBytes: number;
  /** Receives the error that ended a stream early. The reader is only disconnected, and reconnects with its cursor. */
  readonly onError: (error: unknown) => void;
}

const HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  // Proxies that buffer an answer, and middleware that compresses it, would delay events.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
};

/** Tells clients how long a working stream can be silent. */
export const HEARTBEAT_HEADER = "perdure-heartbeat-ms";

/**
 * The open streams of events. A stream holds at most one unread event and asks for the next when that was read, so a slow
 * reader costs no more than a fast one. If the unread events are too large together, the readers that have been slow for the
 * longest are disconnected. They can reconnect with their cursors.
 */
export class EventStreams {
  readonly #settings: StreamSettings;
  readonly #unread: UnreadEvents;
  readonly #callers: CallerLimits;
  #open = 0;

  constructor(settings: StreamSettings) {
    this.#settings = settings;
    this.#callers = new CallerLimits(settings.maxStreamsPerCaller, "http.too_many_streams", "open streams");
    this.#unread = new UnreadEvents(settings.maxUnreadBytes);
  }

  get open(): number {
    return this.#open;
  }

  /** Answers with a stream, or without a body if the reader has received all events. Refuses if too many streams are open. */
  async answer(
    request: Request,
    access: Access,
    subscribe: () => Promise<EventSubscription | null>,
  ): Promise<Response> {
    const { maxStreams } = this.#settings;
    if (this.#open >= maxStreams) {
      throw new HttpError(
        503,
        "http.too_many_streams",
        `There are already ${maxStreams} open streams. Try again later.`,
        {
          headers: { "retry-after": "5" },
        },
      );
    }
    const leave = this.#callers.enter(access.scope.key);
    this.#open += 1;
    const release = () => {
      this.#open -= 1;
      leave();
    };
    const subscription = await subscribe().catch((error: unknown) => {
      release();
      throw error;
    });
    if (subscription === null) {
      release();
      return new Response(null, { status: 204 });
    }
    const parts = {
      subscription,
      access,
      signal: request.signal,
      settings: this.#settings,
      unread: this.#unread,
      release,
    };
    const { heartbeatMs } = this.#settings;
    return new Response(new OpenStream(parts).stream, {
      headers: { ...HEADERS, [HEARTBEAT_HEADER]: String(heartbeatMs) },
    });
  }
}

/** Events that were sent but not read yet, oldest first. */
class UnreadEvents {
  readonly #most: number;
  readonly #bytes = new Map<OpenStream, number>();
  #total = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** An event that exceeds the limit by itself is sent all the same: it would not become smaller. */
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
  readonly access: Access;
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
  readonly #access: Access;
  /** When it ends at the latest, by the monotonic clock. */
  readonly #endsAt: number;
  #timer: Timer | undefined;
  #watch: Timer | undefined;
  #end: (() => void) | undefined;

  constructor({ subscription, access, signal, settings, unread, release }: StreamParts) {
    const { clock, maxStreamAgeMs } = settings;
    const leftMs = access.expiresAt === null ? maxStreamAgeMs : access.expiresAt - clock.now();
    this.#access = access;
    this.#endsAt = clock.monotonic() + Math.min(maxStreamAgeMs, leftMs);
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
          this.#write(": connected\n\n"); // shows clients that wait for the first bytes that the stream is open
        },
        pull: () => this.#pull(),
        cancel: () => this.#close(),
      },
      { highWaterMark: 0 }, // the next event is requested only when the reader wants it
    );
    this.#watchAccess();
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
  }

  /** Ends the connection, and drops what its reader hasn't read. */
  cutOff(): void {
    const controller = this.#controller;
    this.#finish();
    controller?.error(new TypeError("The reader is too slow. It can reconnect with the id of its last event."));
  }

  async #pull(): Promise<void> {
    this.#unread.remove(this); // a pull means that the last event was read
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

  /** Sends heartbeats while waiting for an event, unless the reader doesn't read them. */
  #beat(): void {
    const { clock, heartbeatMs } = this.#settings;
    this.#timer = clock.setTimer(() => {
      if ((this.#controller?.desiredSize ?? -1) >= 0) this.#write(": waiting\n\n");
      this.#beat();
    }, heartbeatMs);
  }

  /** Ends it when its time is over, or when its reader isn't allowed to read it any more. */
  #watchAccess(): void {
    const { clock, recheckMs } = this.#settings;
    const leftMs = this.#endsAt - clock.monotonic();
    if (this.#end === undefined) return;
    if (leftMs <= 0) this.#close();
    else this.#watch = clock.setTimer(() => void this.#recheck(), Math.min(leftMs, recheckMs));
  }

  async #recheck(): Promise<void> {
    const over = this.#settings.clock.monotonic() >= this.#endsAt;
    if (over || !(await this.#access.stillAllowed())) this.#close();
    else this.#watchAccess();
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

  /** Ends the stream once: the subscription, the reader or the connection may do so. Returns whether this call did. */
  #finish(): boolean {
    const end = this.#end;
    if (end === undefined) return false;
    this.#end = undefined;
    this.#timer?.cancel();
    this.#watch?.cancel();
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
      // the reader has cancelled it
    }
  }
}

function format({ id, type, data }: StreamEvent): string {
  return `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify(data)}\n\n`;
}
