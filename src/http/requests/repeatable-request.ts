import { ConflictError } from "../../errors.ts";
import type { Receipt, RequestKey, RequestStatements } from "../../store/request-statements.ts";
import type { Scope } from "../access/scope.ts";
import { invalidRequest, toHttpError } from "../answers/http-error.ts";

const HEADER = "idempotency-key";
const LONGEST_KEY = 255;
const KEY = /^[\x21-\x7e]+$/;
/** Hexadecimal digits of a hash in an id. */
const DIGITS = 40;
/** Far longer than any client repeats a request. */
const KEPT_MS = 86_400_000;

/**
 * The key of a request that its sender may repeat. A key is refused where it has no effect, so that no caller believes that the
 * request can be sent twice.
 */
export function readIdempotencyKey(
  { repeatable = false, method }: { readonly repeatable?: boolean; readonly method: string },
  headers: Headers,
): string | null {
  const key = headers.get(HEADER);
  if (key === null || method === "GET") return null;
  if (!repeatable) throw invalidRequest("This route takes no Idempotency-Key: a repeated request would act again.");
  if (key.length <= LONGEST_KEY && KEY.test(key)) return key;
  throw invalidRequest(`An Idempotency-Key must be 1 to ${LONGEST_KEY} visible ASCII characters.`);
}

/**
 * An id derived from the hash of a key, for an instance or event that the request creates. No caller gives such an id by
 * accident.
 */
export function idOfKey(hash: string, suffix: string = ""): string {
  return `key-${hash.slice(0, DIGITS)}${suffix}`;
}

export interface RepeatableParts {
  readonly requests: RequestStatements;
  readonly namespace: string;
  readonly idempotencyKey: string;
  /** Keys belong to the caller. */
  readonly scope: Pick<Scope, "key" | "narrowed" | "text">;
  /** The whole request except the key. */
  readonly content: unknown;
}

/** Creates the receipt for one part of a request. */
export type Receipts = (part?: number, note?: unknown) => Receipt;

/** A request that was begun. The keys of its receipts begin with `receipt`, which no other request has. */
interface Begun<Target> {
  readonly receipt: string;
  readonly target: Target;
}

/** An action that is done once, however often it is requested. */
export interface OnceOnly<Target, Answer> {
  /** The target that the action would have now, or null if there is none. */
  find(): Promise<Target | null>;
  /**
   * Acts on the target of the first request, and on nothing else. Each receipt is written in the same transaction as its part
   * of the action.
   */
  perform(target: Target, receipts: Receipts): Promise<Answer>;
  /** Throws the error for a request that has no target. */
  refuse(): Promise<Answer>;
}

/**
 * A request with a key, which its sender may repeat. First its target is stored. Then it is performed, and a receipt is stored
 * in the same transaction. Then its answer is stored, and a repeated request gets that answer. If the process was lost before
 * there was an answer, the receipt shows whether the request was performed, even if the target has changed since.
 */
export class RepeatableRequest {
  /** A hash of the key: the key itself may contain private data. */
  readonly hash: string;
  readonly #requests: RequestStatements;
  readonly #key: RequestKey;
  readonly #fingerprint: string;

  constructor(requests: RequestStatements, key: RequestKey, fingerprint: string) {
    this.hash = key.key;
    this.#requests = requests;
    this.#key = key;
    this.#fingerprint = fingerprint;
  }

  static async of(parts: RepeatableParts): Promise<RepeatableRequest> {
    const { requests, namespace, idempotencyKey, scope, content } = parts;
    const fingerprint = await hashOf(JSON.stringify(sorted(scope.narrowed ? [scope.text, content] : content)));
    const key = await hashOf(scope.key === null ? idempotencyKey : JSON.stringify([scope.key, idempotencyKey]));
    return new RepeatableRequest(requests, { namespace, key }, fingerprint);
  }

  async once<Target, Answer>({ find, perform, refuse }: OnceOnly<Target, Answer>): Promise<Answer> {
    const found = await find();
    const remembered = found === null ? await this.#requests.find(this.#key) : await this.#begin(found);
    if (remembered === null) return refuse();
    if (remembered.fingerprint !== this.#fingerprint) {
      throw new ConflictError(
        "http.idempotency_conflict",
        "The Idempotency-Key was used before, for a request with another path or body.",
      );
    }
    if (remembered.answer !== null) return JSON.parse(remembered.answer) as Answer;
    const { receipt, target } = JSON.parse(remembered.target) as Begun<Target>;
    const receipts: Receipts = (part = 0, note = null) => ({
      key: `${receipt}-${part}`,
      note: JSON.stringify(note),
      keepMs: KEPT_MS,
    });
    const answer = await this.#perform(() => perform(target, receipts));
    await this.#requests.finish(this.#key, JSON.stringify(answer));
    return answer;
  }

  #begin<Target>(target: Target) {
    const begun: Begun<Target> = { receipt: `receipt-${crypto.randomUUID()}`, target };
    const fingerprint = this.#fingerprint;
    return this.#requests.begin({ ...this.#key, fingerprint, target: JSON.stringify(begun), keepMs: KEPT_MS });
  }

  /** A refused request changed nothing, and its key may be used again. After any other failure it may have been performed. */
  async #perform<Answer>(perform: () => Promise<Answer>): Promise<Answer> {
    try {
      return await perform();
    } catch (error) {
      if (!toHttpError(error).unexpected) await this.#requests.forget(this.#key);
      throw error;
    }
  }
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Sorts fields, so that their order makes no difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return fields.map(([name, field]) => [name, sorted(field)]);
}
