import type { Clock, Timer } from "../clock.ts";
import { type Duration, parseDuration } from "../duration.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { runApart } from "../replayed-code.ts";
import type { HookContext } from "./hook-context.ts";

/** How many triggers one call of a handler takes, and how long the first of them waits for the others. */
export interface HookBatchOptions {
  /**
   * From 1 to 1000. A batch that has as many begins at once. Items that wait keep their slots: together they take at most half
   * of the worker's slots for hooks, so a larger batch needs more of those (`concurrency`).
   */
  readonly size: number;
  /** A smaller batch begins when its first item has waited this long, or earlier: at most 5 minutes. Default: 1 second. */
  readonly delay?: Duration;
}

/** One trigger in a batch, with an outcome of its own. */
export interface HookItem<Payload> {
  readonly payload: Payload;
  /** Its own call: id, attempts, idempotency key and signal. */
  readonly hook: HookContext;
  /** This item has failed, whatever happens to the others: it alone is retried, or becomes a dead letter. */
  fail(error: unknown): void;
  /** This item is done, even if the handler throws later. */
  complete(): void;
}

export interface HookBatch {
  readonly size: number;
  readonly delayMs: number;
}

/** Receives the outcome of an item. Only the first one counts. */
export interface JoinedItem {
  readonly payload: unknown;
  readonly hook: HookContext;
  /** Called when the batch begins. Returns whether the item is still this worker's to handle. */
  begin(): boolean;
  complete(): void;
  fail(error: unknown): void;
}

type BatchHandler = (items: readonly HookItem<unknown>[]) => unknown;

interface OpenBatch {
  readonly handler: BatchHandler;
  readonly items: JoinedItem[];
  readonly timer: Timer;
}

const MOST_ITEMS = 1000;
const LONGEST_DELAY_MS = 300_000;

/** Checks the `batch` option of a hook. */
export function parseBatch(batch: unknown): HookBatch | null {
  if (batch === undefined) return null;
  checkOptions(batch, { label: "batch", fields: ["size", "delay"], code: "hook.invalid" });
  const { size, delay = 1000 } = batch as HookBatchOptions;
  if (!(Number.isInteger(size) && size >= 1 && size <= MOST_ITEMS)) {
    throw new InvalidInputError("hook.invalid", `batch.size must be a whole number from 1 to ${MOST_ITEMS}.`);
  }
  const delayMs = parseDuration(delay, "The delay of batch");
  if (delayMs > LONGEST_DELAY_MS)
    throw new InvalidInputError("hook.invalid", "The delay of batch can be at most 5 minutes.");
  return { size, delayMs };
}

/**
 * Gathers claimed hooks of this process for handlers that take many at once. Each item stays a hook of its own, with its row,
 * its lease, its attempts and its outcome: only the call of the handler is shared.
 */
export class HookBatches {
  readonly #clock: Clock;
  readonly #open = new Map<string, OpenBatch>();
  /** The items of all open batches. */
  #waiting = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Adds an item of a worker with so many slots. Items that wait do nothing in theirs: when they have half of them, the largest
   * batch begins, however small, so that other hooks don't wait for this one's delay.
   */
  join({ size, delayMs }: HookBatch, handler: BatchHandler, item: JoinedItem, slots: number): void {
    const key = keyOf(item.hook);
    const batch = this.#open.get(key) ?? this.#begin(key, handler, delayMs);
    batch.items.push(item);
    this.#waiting++;
    if (batch.items.length >= size) this.#call(key);
    else if (this.#waiting >= Math.ceil(slots / 2)) this.#callLargest();
  }

  #callLargest(): void {
    const [largest] = [...this.#open].sort(([, one], [, other]) => other.items.length - one.items.length);
    if (largest !== undefined) this.#call(largest[0]);
  }

  /** Calls the handler now, with the items that there are: the process is about to stop. */
  hurry(hook: Pick<HookContext, "namespace" | "hookName">): void {
    this.#call(keyOf(hook));
  }

  #begin(key: string, handler: BatchHandler, delayMs: number): OpenBatch {
    const batch = { handler, items: [], timer: this.#clock.setTimer(() => this.#call(key), delayMs) };
    this.#open.set(key, batch);
    return batch;
  }

  #call(key: string): void {
    const batch = this.#open.get(key);
    if (batch === undefined) return;
    this.#open.delete(key);
    this.#waiting -= batch.items.length;
    batch.timer.cancel();
    void callHandler(
      batch.handler,
      batch.items.filter((item) => item.begin()),
    );
  }
}

/** A name has no space. */
function keyOf({ namespace, hookName }: Pick<HookContext, "namespace" | "hookName">): string {
  return `${namespace} ${hookName}`;
}

async function callHandler(handler: BatchHandler, joined: readonly JoinedItem[]): Promise<void> {
  if (joined.length === 0) return;
  const items = joined.map(
    ({ payload, hook, fail, complete }): HookItem<unknown> => ({ payload, hook, fail, complete }),
  );
  try {
    await runApart(() => handler(items));
    for (const item of joined) item.complete();
  } catch (error) {
    for (const item of joined) item.fail(error);
  }
}
