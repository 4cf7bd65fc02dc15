import type { Clock, Timer } from "../../../clock.ts";
import { transactionStates } from "../sql/statement.ts";
import type { Connection } from "./connection.ts";

const FIRST_PAUSE_MS = 2;
const LONGEST_PAUSE_MS = 500;
/** A commit is heard of after about a third of the time that its transaction was open. */
const GROWTH = 1.5;
/** Then the polls of workers find what a transaction has written. */
const PATIENCE_MS = 10 * 60_000;
/** More transactions than these aren't watched: polls find their work, too. */
const MOST_WATCHED = 10_000;

interface Watched {
  readonly until: number;
  readonly listeners: (() => void)[];
}

/**
 * Learns when transactions of the application's have committed, so that workers can be told of what these have written. A
 * NOTIFY in such a transaction would tell them, too, but makes all commits of the server wait for each other. One statement
 * asks about all transactions that are watched: at once when a client says that one has ended; otherwise a few milliseconds
 * after the newest was written in, and then less and less often.
 */
export class CommitWatch {
  readonly #connection: Connection;
  readonly #clock: Clock;
  readonly #watched = new Map<string, Watched>();
  #pauseMs = FIRST_PAUSE_MS;
  #timer: { readonly dueAt: number; readonly timer: Timer } | undefined;
  #asking: Promise<void> | undefined;
  #closing = false;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** Returns what to call when the transaction seems to have ended. */
  watch(transactionId: string, onCommitted: () => void): () => void {
    const known = this.#watched.get(transactionId);
    if (known !== undefined) {
      known.listeners.push(onCommitted);
    } else if (this.#watched.size < MOST_WATCHED) {
      this.#watched.set(transactionId, { until: this.#clock.monotonic() + PATIENCE_MS, listeners: [onCommitted] });
    }
    this.#hasten(FIRST_PAUSE_MS); // something has just happened: most transactions end soon after
    return () => this.#hasten(0);
  }

  /** Asks once more: a transaction may have committed right before, and no later question would tell of it. */
  async close(): Promise<void> {
    this.#closing = true;
    this.#timer?.timer.cancel();
    await this.#asking;
    if (this.#watched.size > 0) await this.#ask();
    this.#watched.clear();
  }

  /** Asks this soon at the latest. A question that is due earlier isn't put off, however often this is called. */
  #hasten(pauseMs: number): void {
    this.#pauseMs = FIRST_PAUSE_MS;
    if (this.#timer !== undefined && this.#timer.dueAt > this.#clock.monotonic() + pauseMs) {
      this.#timer.timer.cancel();
      this.#timer = undefined;
    }
    this.#schedule(pauseMs);
  }

  #schedule(pauseMs: number): void {
    if (this.#closing || this.#watched.size === 0 || this.#timer !== undefined || this.#asking !== undefined) return;
    const timer = this.#clock.setTimer(() => {
      this.#timer = undefined;
      this.#asking = this.#ask().finally(() => {
        this.#asking = undefined;
        const next = this.#pauseMs;
        this.#pauseMs = Math.min(next * GROWTH, LONGEST_PAUSE_MS);
        this.#schedule(next);
      });
    }, pauseMs);
    this.#timer = { dueAt: this.#clock.monotonic() + pauseMs, timer };
  }

  async #ask(): Promise<void> {
    const now = this.#clock.monotonic();
    for (const [id, { until }] of this.#watched) if (until < now) this.#watched.delete(id);
    try {
      const { rows } = await this.#connection.run(transactionStates(), [[...this.#watched.keys()]]);
      for (const { id, status } of rows as { id: string; status: string | null }[]) this.#ended(id, status);
    } catch {
      // asked again; until then polls find the work
    }
  }

  /** Too old for the server to know: it has ended long ago. */
  #ended(id: string, status: string | null): void {
    if (status === "in progress") return;
    const watched = this.#watched.get(id);
    this.#watched.delete(id);
    if (status !== "aborted") for (const tell of watched?.listeners ?? []) tell();
  }
}
