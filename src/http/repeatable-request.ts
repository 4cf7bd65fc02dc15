import { ConflictError } from "../errors.ts";
import type { Receipt, RequestKey, RequestStatements } from "../store/request-statements.ts";
import { toHttpError } from "./answer-error.ts";

/** As long as any client repeats a request, and far longer than ours does. */
const KEPT_MS = 86_400_000;

export interface RepeatableParts {
  readonly requests: RequestStatements;
  readonly namespace: string;
  readonly idempotencyKey: string;
  /** All that is asked for, but the key. */
  readonly content: unknown;
}

/** Makes the receipt of a part of a request. */
export type Receipts = (part?: number, note?: unknown) => Receipt;

/** A request that was begun: `receipt` is the beginning of the keys of its receipts, and no other request has it. */
interface Begun<Target> {
  readonly receipt: string;
  readonly target: Target;
}

/** What is to be done once, however often it is asked for. */
export interface OnceOnly<Target, Answer> {
  /** To what it would be done now; null where there is no such thing. */
  find(): Promise<Target | null>;
  /**
   * Does it to what it was to be done to when it was first asked for, and to nothing else. The receipts are written with what is done:
   * one for each part that is done by itself.
   */
  perform(target: Target, receipts: Receipts): Promise<Answer>;
  /** Throws what a request is refused with where there is nothing to do it to. */
  refuse(): Promise<Answer>;
}

/**
 * A request that its sender may send again, because it has a key. What it is to be done to is written down first; then it is done, and a
 * receipt is written in the same transaction; then its answer is written down. Sent again it gets that answer. Where there is none,
 * because its process was lost, the receipt tells whether it was done, whatever others have done to the same since.
 */
export class RepeatableRequest {
  /** A hash of the key: keys may say what they are for. */
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

  static async of({ requests, namespace, idempotencyKey, content }: RepeatableParts): Promise<RepeatableRequest> {
    const fingerprint = await hashOf(JSON.stringify(sorted(content)));
    return new RepeatableRequest(requests, { namespace, key: await hashOf(idempotencyKey) }, fingerprint);
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

  /** What was refused has done nothing, and may be asked for anew. What failed otherwise may have been done. */
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

/** The order of fields makes no difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return fields.map(([name, field]) => [name, sorted(field)]);
}
