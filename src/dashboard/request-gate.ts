import type { Clock } from "../clock.ts";
import { refusal } from "./answers.ts";

/** Questions of all viewers that the database answers at the same time, so that many open pages can't hold up the engine. */
const MOST_AT_ONCE = 4;
const MOST_WAITING = 200;

/** Lets few requests in at a time, and gives up on those that take too long. */
export class RequestGate {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #waiting: (() => void)[] = [];
  #inside = 0;

  constructor(clock: Clock, timeoutMs: number) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** A request that changes something isn't given up: the caller must learn what became of it. Streams stay open. */
  async pass(request: Request, answer: () => Promise<Response>): Promise<Response> {
    if (request.method !== "GET" || /\/subscribe$/.test(new URL(request.url).pathname)) return answer();
    if (this.#waiting.length >= MOST_WAITING) {
      return refusal(503, "dashboard.busy", "Too many pages ask at the same time. Try again in a moment.");
    }
    let giveUp = () => {};
    const late = new Promise<Response>((resolve) => {
      giveUp = () =>
        resolve(
          refusal(503, "dashboard.timeout", "The database took too long to answer. Narrow the filter, or try again."),
        );
    });
    const timer = this.#clock.setTimer(giveUp, this.#timeoutMs);
    try {
      return await Promise.race([this.#take(answer), late]);
    } finally {
      timer.cancel();
    }
  }

  /** A request that was given up keeps its place until the database has answered it. */
  async #take(answer: () => Promise<Response>): Promise<Response> {
    if (this.#inside >= MOST_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#inside += 1;
    try {
      return await answer();
    } finally {
      const next = this.#waiting.shift(); // it takes over this place
      if (next === undefined) this.#inside -= 1;
      else next();
    }
  }
}
