import { HttpError } from "../answers/http-error.ts";

/** How much one caller may have under way at a time. Callers that the policy doesn't distinguish aren't limited. */
export class CallerLimits {
  readonly #most: number;
  readonly #code: string;
  readonly #what: string;
  readonly #counts = new Map<string, number>();

  constructor(most: number, code: string, what: string) {
    this.#most = most;
    this.#code = code;
    this.#what = what;
  }

  /** Counts one more, and returns what ends it. Throws if there are too many. */
  enter(caller: string | null): () => void {
    if (caller === null) return () => {};
    const count = this.#counts.get(caller) ?? 0;
    if (count >= this.#most) {
      throw new HttpError(429, this.#code, `The caller has ${this.#most} ${this.#what} already. Try again later.`, {
        headers: { "retry-after": "1" },
      });
    }
    this.#counts.set(caller, count + 1);
    return () => {
      const left = (this.#counts.get(caller) as number) - 1;
      if (left === 0) this.#counts.delete(caller);
      else this.#counts.set(caller, left);
    };
  }
}
