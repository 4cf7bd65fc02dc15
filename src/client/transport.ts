import type { PerdureError } from "../errors.ts";
import { outcomeUnknown, toError, unreachable } from "./answer-errors.ts";
import type { ClientSettings } from "./client-options.ts";

export interface ClientRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Its parts are encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * `always`: it does no harm to send it again. `unless-sent`: only if it was refused before it began, because sent twice it would
   * be done twice.
   */
  readonly repeat: "always" | "unless-sent";
  readonly signal?: AbortSignal | undefined;
}

/** An answer, and whether the request may have arrived more than once. */
export interface Answered {
  readonly response: Response;
  readonly repeated: boolean;
}

/** Refused before anything was done. */
const BUSY: readonly number[] = [429, 503];
/** Somebody between us and the server got no answer. */
const LOST: readonly number[] = [502, 504];
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5000;

/** Errors of requests that may have arrived before: what they refuse may be what they have done themselves. */
const afterRepetition = new WeakSet<PerdureError>();

export function wasRepeated(error: PerdureError): boolean {
  return afterRepetition.has(error);
}

/** Asks the server, and asks again where that does no harm. */
export class Transport {
  readonly #settings: ClientSettings;

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  /** Gives the answer if it is a good one, and throws what it says otherwise. */
  async send(request: ClientRequest): Promise<Answered> {
    let repeated = false;
    for (let attempt = 0; ; attempt++) {
      const last = attempt >= this.#settings.retries;
      const answer = await this.#ask(request);
      if ("lost" in answer) {
        request.signal?.throwIfAborted();
        if (request.repeat !== "always") throw outcomeUnknown(answer.lost);
        if (last) throw unreachable(answer.lost);
        repeated = true;
      } else {
        const { response } = answer;
        if (response.ok) return { response, repeated };
        const lost = LOST.includes(response.status);
        if (last || !(BUSY.includes(response.status) || (lost && request.repeat === "always")))
          throw await this.#refusal(response, repeated);
        await response.body?.cancel();
        repeated ||= lost;
      }
      await pause(delayBefore(attempt, "response" in answer ? answer.response : null), request.signal);
    }
  }

  async #ask(request: ClientRequest): Promise<{ readonly response: Response } | { readonly lost: unknown }> {
    const { method, body, signal, headers } = request;
    const sent = new Request(this.#urlOf(request), {
      method,
      headers: { accept: "application/json", ...(await this.#headers(method)), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    try {
      return { response: await this.#settings.fetch(sent) };
    } catch (lost) {
      return { lost };
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

/** As the server says, or longer each time, with some chance in it. */
function delayBefore(attempt: number, response: Response | null): number {
  const seconds = Number(response?.headers.get("retry-after") ?? Number.NaN);
  if (seconds >= 0) return Math.min(seconds * 1000, LONGEST_DELAY_MS);
  return Math.min(FIRST_DELAY_MS * 2 ** attempt, LONGEST_DELAY_MS) * (0.5 + Math.random() / 2);
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
