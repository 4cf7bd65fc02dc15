import { systemClock } from "../clock.ts";
import type { PerdureError } from "../errors.ts";
import { toError, unreachable } from "./answer-errors.ts";
import type { ClientSettings } from "./client-options.ts";

export interface ClientRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Segments, which are then encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  /** Whether it is repeated for minutes, whatever `retries` says, because its caller waits for a long time anyway. */
  readonly patient?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** A status, other than those of success, whose body is an answer. */
  readonly accepts?: number;
}

/** An answer, and whether the request may have arrived more than once. */
export interface Answered {
  /** Undefined if the answer has no body. */
  readonly body: unknown;
  readonly repeated: boolean;
}

/** An open stream of events. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** The server sends a comment after this long without an event. */
  readonly heartbeatMs: number;
}

/** How a successful answer is read. */
interface Kind<Read> {
  readonly type: "application/json" | "text/event-stream";
  read(response: Response): Promise<Read>;
}

/** `answer` is undefined if the response has no body. */
type Outcome<Read> =
  | { readonly answer: Read | undefined }
  | { readonly refused: Response }
  | { readonly lost: unknown };

const JSON_BODY: Kind<unknown> = { type: "application/json", read: (response) => response.json() };
const EVENTS: Kind<EventStream | null> = {
  type: "text/event-stream",
  read: async ({ body, headers }) =>
    body === null ? null : { body, heartbeatMs: Number(headers.get("perdure-heartbeat-ms")) || USUAL_HEARTBEAT_MS },
};
const USUAL_HEARTBEAT_MS = 15_000;

/** The request was refused before it had any effect. */
const BUSY = 429;
/** A proxy got no answer, or the server got none from its database: the request may have taken effect. */
const UNSURE: readonly number[] = [502, 503, 504];
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;
/** If the server asks for a longer delay, the client gives up. It never repeats a request early. */
const LONGEST_RETRY_AFTER_MS = 600_000;
/** Until an answer must begin. A connection that broke silently would look open for much longer. */
const ANSWER_TIMEOUT_MS = 60_000;
const PATIENCE_MS = 600_000;

/** Errors of requests that may have arrived before: an earlier copy may have caused the refusal itself. */
const afterRepetition = new WeakSet<PerdureError>();

export function wasRepeated(error: PerdureError): boolean {
  return afterRepetition.has(error);
}

/**
 * Sends requests, and repeats those that get no answer. A request that changes something has a key by which the server
 * recognises it.
 */
export class Transport {
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  /** Returns the answer of a successful request, and throws the error of a refused one. An incomplete answer counts as none. */
  async send(request: ClientRequest): Promise<Answered> {
    const { answer, repeated } = await this.#exchange(request, JSON_BODY);
    return { body: answer, repeated };
  }

  /** A stream of events, or null if there are no more events. */
  async open(request: ClientRequest): Promise<EventStream | null> {
    return (await this.#exchange(request, EVENTS)).answer ?? null;
  }

  async #exchange<Read>(
    request: ClientRequest,
    kind: Kind<Read>,
  ): Promise<{ readonly answer: Read | undefined; readonly repeated: boolean }> {
    const start = systemClock.monotonic();
    const key = request.method === "GET" ? null : createIdempotencyKey();
    let repeated = false;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#ask(request, key, kind);
      if ("answer" in outcome) return { ...outcome, repeated };
      const delayMs = delayBefore(attempt, "refused" in outcome ? outcome.refused : null);
      const waited = systemClock.monotonic() - start;
      const last =
        delayMs > LONGEST_RETRY_AFTER_MS ||
        (request.patient ? waited > PATIENCE_MS : attempt >= this.#settings.retries);
      if ("lost" in outcome) {
        request.signal?.throwIfAborted();
        if (last) throw unreachable(outcome.lost);
        repeated = true;
      } else {
        const { refused } = outcome;
        const unsure = UNSURE.includes(refused.status);
        if (last || !(unsure || refused.status === BUSY)) throw await this.#refusal(refused, repeated);
        await refused.body?.cancel();
        repeated ||= unsure;
      }
      await pause(delayMs, request.signal);
    }
  }

  async #ask<Read>(request: ClientRequest, key: string | null, { type, read }: Kind<Read>): Promise<Outcome<Read>> {
    const { method, body, signal, accepts } = request;
    const late = new AbortController();
    const sent = new Request(this.#urlOf(request), {
      method,
      headers: { accept: type, ...(await this.#headers(key)) },
      redirect: "manual", // a redirected POST would become a GET, which succeeds without any effect
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    });
    try {
      const response = await this.#inTime(sent, late);
      if (response.status === 204) return { answer: undefined };
      if (!(response.ok || response.status === accepts) || !isOfType(response, type)) return { refused: response };
      return { answer: await read(response) };
    } catch (lost) {
      return { lost };
    }
  }

  async #inTime(request: Request, late: AbortController): Promise<Response> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = systemClock.setTimer(() => {
      const error = new TypeError(`No answer came for ${ANSWER_TIMEOUT_MS} ms.`);
      reject(error); // the given `fetch` may ignore signals
      late.abort(error);
    }, ANSWER_TIMEOUT_MS);
    try {
      return await Promise.race([this.#settings.fetch(request), promise]);
    } finally {
      timer.cancel();
    }
  }

  async #headers(idempotencyKey: string | null): Promise<Record<string, string>> {
    const token = await this.#settings.token();
    return {
      ...this.#settings.headers,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(idempotencyKey === null ? {} : { "content-type": "application/json", "idempotency-key": idempotencyKey }),
    };
  }

  async #refusal(response: Response, repeated: boolean): Promise<PerdureError> {
    const error = await toError(response);
    if (repeated) afterRepetition.add(error);
    return error;
  }

  #urlOf({ path, query = {} }: ClientRequest): string {
    const url = new URL(`${this.#settings.baseUrl}/${path.map(encodeURIComponent).join("/")}`);
    for (const [name, value] of Object.entries(query)) {
      for (const one of typeof value === "string" ? [value] : (value ?? [])) url.searchParams.append(name, one);
    }
    return url.href;
  }
}

/** A proxy or host that answers in place of the server sends a page, often with status 200. */
function isOfType({ headers }: Response, type: string): boolean {
  return (headers.get("content-type") ?? "").toLowerCase().startsWith(type);
}

/** The delay that the server asks for, or one that grows with each attempt, with jitter. */
function delayBefore(attempt: number, response: Response | null): number {
  const told = retryAfter(response?.headers.get("retry-after") ?? null);
  if (told !== null) return told;
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);
}

/** Takes a number of seconds or a date; anything else gives null. */
function retryAfter(text: string | null): number | null {
  if (text === null || text.trim() === "") return null;
  const seconds = Number(text);
  if (seconds >= 0) return seconds * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(time - Date.now(), 0);
}

const KEY_BYTES = 16;

/** A key that no other request has. `crypto.randomUUID` doesn't exist in pages that were loaded without HTTPS. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}
