import { systemClock } from "../clock.ts";
import type { PerdureError } from "../errors.ts";
import { toError, unreachable } from "./answer-errors.ts";
import type { ClientSettings } from "./client-options.ts";

export interface ClientRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Its parts are encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether it is sent again for minutes, whatever `retries` says: its caller waits for something that takes long anyway. */
  readonly patient?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What was answered, and whether the request may have arrived more than once. */
export interface Answered {
  /** Undefined where there was nothing to say. */
  readonly body: unknown;
  readonly repeated: boolean;
}

/** An open stream of events. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** After so much silence the server sends a comment. */
  readonly heartbeatMs: number;
}

/** How a good answer is read. */
interface Kind<Read> {
  readonly type: "application/json" | "text/event-stream";
  read(response: Response): Promise<Read>;
}

/** Undefined where there was nothing to say. */
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

/** Refused before anything was done. */
const BUSY = 429;
/** Somebody between us and the server got no answer, or the server none from its database: it may have been done. */
const UNSURE: readonly number[] = [502, 503, 504];
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;
/** Who is told to come back later than this gives up instead: never before it was told to. */
const LONGEST_RETRY_AFTER_MS = 600_000;
/** For an answer to begin. A connection that is cut without a word looks open for much longer. */
const ANSWER_TIMEOUT_MS = 60_000;
const PATIENCE_MS = 600_000;

/** Errors of requests that may have arrived before: what they refuse may be what they have done themselves. */
const afterRepetition = new WeakSet<PerdureError>();

export function wasRepeated(error: PerdureError): boolean {
  return afterRepetition.has(error);
}

/** Asks the server, and asks again: requests that change something have keys, by which the server knows them again. */
export class Transport {
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  /** Gives the answer if it is a good one, and throws what it says otherwise. One that breaks off is none. */
  async send(request: ClientRequest): Promise<Answered> {
    const { answer, repeated } = await this.#exchange(request, JSON_BODY);
    return { body: answer, repeated };
  }

  /** A stream of events; null where everything was told already. */
  async open(request: ClientRequest): Promise<EventStream | null> {
    return (await this.#exchange(request, EVENTS)).answer ?? null;
  }

  async #exchange<Read>(
    request: ClientRequest,
    kind: Kind<Read>,
  ): Promise<{ readonly answer: Read | undefined; readonly repeated: boolean }> {
    const start = systemClock.monotonic();
    let repeated = false;
    for (let attempt = 0; ; attempt++) {
      const outcome = await this.#ask(request, kind);
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

  async #ask<Read>(request: ClientRequest, { type, read }: Kind<Read>): Promise<Outcome<Read>> {
    const { method, body, signal, headers } = request;
    const late = new AbortController();
    const sent = new Request(this.#urlOf(request), {
      method,
      headers: { accept: type, ...(await this.#headers(method)), ...headers },
      redirect: "manual", // followed, a POST would become a GET that creates nothing and looks well
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]),
    });
    try {
      const response = await this.#inTime(sent, late);
      if (response.status === 204) return { answer: undefined };
      if (!response.ok || !isOfType(response, type)) return { refused: response };
      return { answer: await read(response) };
    } catch (lost) {
      return { lost };
    }
  }

  async #inTime(request: Request, late: AbortController): Promise<Response> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = systemClock.setTimer(() => {
      const error = new TypeError(`No answer came for ${ANSWER_TIMEOUT_MS} ms.`);
      reject(error); // also where `fetch` is one that doesn't look at signals
      late.abort(error);
    }, ANSWER_TIMEOUT_MS);
    try {
      return await Promise.race([this.#settings.fetch(request), promise]);
    } finally {
      timer.cancel();
    }
  }

  async #headers(method: string): Promise<Record<string, string>> {
    const token = await this.#settings.token();
    return {
      ...this.#settings.headers,
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(method === "GET" ? {} : { "content-type": "application/json" }),
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

/** Whoever answers for a server that isn't there does so with a page, and often with 200. */
function isOfType({ headers }: Response, type: string): boolean {
  return (headers.get("content-type") ?? "").toLowerCase().startsWith(type);
}

/** As the server says, or longer each time, with some chance in it. */
function delayBefore(attempt: number, response: Response | null): number {
  const told = retryAfter(response?.headers.get("retry-after") ?? null);
  if (told !== null) return told;
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);
}

/** A number of seconds, or a date. Null where it is neither. */
function retryAfter(text: string | null): number | null {
  if (text === null || text.trim() === "") return null;
  const seconds = Number(text);
  if (seconds >= 0) return seconds * 1000;
  const time = Date.parse(text);
  return Number.isNaN(time) ? null : Math.max(time - Date.now(), 0);
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
