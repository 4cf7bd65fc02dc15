import type { Clock } from "../clock.ts";
import { refusal } from "./answers.ts";

/** Questions of all viewers that the database answers at the same time, so that many open pages can't hold up the engine. */
const MOST_AT_ONCE = 4;
const MOST_WAITING = 200;

/** Lets few requests in at a time, and gives up on those that take too long or whose viewer has gone. */
export class RequestGate {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  /** Those that wait, in order. Each is called when it may enter. */
  readonly #waiting = new Set<() => void>();
  #inside = 0;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** A request that changes something isn't given up: the caller must learn its outcome. Streams stay open. */
  async pass(request: Request, answer: () => Promise<Response>): Promise<Response> {
    if (request.method !== "GET" || /\/subscribe$/.test(new URL(request.url).pathname)) return answer();
    if (this.#inside >= MOST_AT_ONCE && this.#waiting.size >= MOST_WAITING) {
      return refusal(503, "dashboard.busy", "Too many pages ask at the same time. Try again in a moment.");
    }
    const { signal } = request;
    const over = new AbortController();
    const giveUp = () => over.abort();
    const timer = this.#clock.setTimer(giveUp, this.#timeoutMs);
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
    try {
      return await Promise.race([this.#take(answer, over.signal), late(over.signal)]);
    } finally {
      timer.cancel();
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** A request that is given up while it waits never runs; one that runs keeps its place until the database has answered it. */
  async #take(answer: () => Promise<Response>, over: AbortSignal): Promise<Response> {
    if (!(await this.#enter(over))) return late(over);
    try {
      return await answer();
    } finally {
      this.#leave();
    }
  }

  async #enter(over: AbortSignal): Promise<boolean> {
    if (over.aborted) return false;
    if (this.#inside < MOST_AT_ONCE) {
      this.#inside += 1;
      return true;
    }
    return new Promise<boolean>((resolve) => {
      const enter = () => resolve(true);
      this.#waiting.add(enter);
      over.addEventListener("abort", () => resolve(!this.#waiting.delete(enter)), { once: true });
    });
  }

  /** The first of those that wait takes over the place. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#inside -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

function late(over: AbortSignal): Promise<Response> {
  const answer = () =>
    refusal(503, "dashboard.timeout", "The database took too long to answer. Narrow the filter, or try again.");
  if (over.aborted) return Promise.resolve(answer());
  return new Promise((resolve) => over.addEventListener("abort", () => resolve(answer()), { once: true }));
}
