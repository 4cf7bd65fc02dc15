import { callSafely } from "../call-safely.ts";
import { type Clock, pause } from "../clock.ts";
import { StoreError } from "../errors.ts";
import { describeWorker } from "../queue/describe-worker.ts";
import { type DispatchErrorContext, DispatchLoop, type DispatchOptions } from "../queue/dispatch-loop.ts";
import { type Owner, ownerOfToken } from "../queue/owner.ts";
import type { ProcessorTaker } from "../queue/processor.ts";
import { Backoff } from "../queue/wake-timer.ts";
import type { Reservation, WorkKind, WorkNotice } from "../store/queue/work-board.ts";
import type { Store } from "../store/store.ts";
import { loggedError } from "../values/index.ts";
import type { ObjectAlarm } from "./object-alarm.ts";

export interface ObjectDispatchOptions extends Omit<DispatchOptions, "owner" | "pollIntervalMs"> {
  readonly alarm: ObjectAlarm;
  /** Runs a body outside the transaction that may be open. */
  readonly outside: <Result>(body: () => Result) => Result;
}

/** An alarm may run for fifteen minutes. The next one takes care of longer work. */
const LONGEST_ALARM_MS = 600_000;
const LONGEST_DRAIN_MS = 86_400_000;
const PURGE_INTERVAL_MS = 3_600_000;
/** Between alarms after a failure. */
const BACKOFF = { firstMs: 2000, longestMs: 60_000 };

/**
 * Runs due work in a Durable Object as soon as it is written. There is no timer while nothing runs, so that the object can
 * hibernate; its alarm wakes it when work is due, and keeps it alive while work runs.
 */
export class ObjectDispatcher implements ProcessorTaker {
  readonly #options: ObjectDispatchOptions;
  readonly #alarm: ObjectAlarm;
  readonly #clock: Clock;
  readonly #incarnation: string;
  readonly #backoff: Backoff;
  #started = false;
  #loops = 0;
  #loop: DispatchLoop | undefined;
  #draining: Promise<void> | undefined;
  /** Whether a notice has arrived since the last drain began. */
  #noticed = false;
  #purgeAt = 0;

  constructor(options: ObjectDispatchOptions) {
    this.#options = options;
    this.#alarm = options.alarm;
    const { processor } = options;
    this.#clock = processor.clock;
    this.#backoff = new Backoff(processor.randomness, BACKOFF);
    this.#incarnation = Array.from(processor.randomness.bytes(8), (byte) => byte.toString(16).padStart(2, "0")).join(
      "",
    );
    this.#alarm.watch(() => processor.nextWake({ takeOver: true }));
    processor.join(this, { listens: true });
    const owner = { name: this.#incarnation, host: "durable object" };
    const worker = describeWorker(owner, options.concurrency, processor.sources);
    for (const store of processor.stores) store.workers.addUnstored(worker);
  }

  /** An object has one owner at a time: leases of an earlier one are free. Called before any event is delivered. */
  async start(): Promise<void> {
    try {
      await this.#freeLeases();
      await this.#alarm.settle();
    } catch (error) {
      // A later migration is followed by writes, and these set an alarm.
      if (!(error instanceof StoreError && error.code === "store.not_migrated")) this.#report(error);
    }
  }

  /** Never throws: an alarm that fails too often isn't tried again. */
  async alarm(): Promise<void> {
    try {
      await this.#alarm.fired();
      await this.#alarm.cover();
      await this.#freeLeases();
      await this.#purge();
      const timeout = new AbortController();
      await Promise.race([this.#drain(), pause(this.#clock, LONGEST_ALARM_MS, timeout.signal)]);
      timeout.abort();
      if (this.#draining !== undefined) await this.#alarm.cover();
    } catch (error) {
      await this.#retryLater(error);
    }
  }

  wake(): void {
    void this.#drain();
  }

  notice({ namespace, delayMs, remote = false }: WorkNotice, store: Store): boolean {
    const { processor } = this.#options;
    if (namespace !== null && !processor.namespaces.includes(namespace)) return false;
    if (remote) processor.heard(namespace, store);
    if (delayMs > 0 && this.#draining === undefined) this.#settleSoon();
    else void this.#drain();
    return true;
  }

  reserve<Kind extends WorkKind>(kind: Kind, namespace: string, name: string, store: Store): Reservation<Kind> | null {
    if (this.#draining !== undefined) return null; // its loop is asked directly
    void this.#drain();
    return (this.#loop as DispatchLoop | undefined)?.reserve(kind, namespace, name, store) ?? null;
  }

  #settleSoon(): void {
    void this.#options.outside(() => this.#alarm.settle()).catch((error: unknown) => this.#report(error));
  }

  /** Begins at once, so that slots can be reserved. */
  #drain(): Promise<void> {
    this.#noticed = true;
    this.#draining ??= this.#options.outside(() => this.#drainAll());
    return this.#draining;
  }

  async #drainAll(): Promise<void> {
    try {
      while (this.#noticed) {
        this.#noticed = false;
        this.#loop = new DispatchLoop({ ...this.#options, pollIntervalMs: LONGEST_DRAIN_MS, owner: this.#nextOwner() });
        await this.#loop.drain(LONGEST_DRAIN_MS);
        if (!this.#noticed) await this.#alarm.settle();
      }
      this.#backoff.reset();
    } catch (error) {
      await this.#retryLater(error);
    } finally {
      this.#draining = undefined;
    }
  }

  async #freeLeases(): Promise<void> {
    if (this.#started) return;
    const { processor, logger } = this.#options;
    const isEarlier = (token: string) => !ownerOfToken(token).startsWith(this.#incarnation);
    for (const source of processor.sources) {
      const freed = await source.expireLeases(isEarlier);
      if (freed > 0)
        logger.info("Freed the leases of work that this object had begun before it was restarted.", { count: freed });
      await source.survey?.();
    }
    this.#started = true;
  }

  async #purge(): Promise<void> {
    if (this.#clock.monotonic() < this.#purgeAt) return;
    this.#purgeAt = this.#clock.monotonic() + PURGE_INTERVAL_MS;
    for (const source of this.#options.processor.sources) await source.purge();
  }

  /** Tokens of two loops are never the same. */
  #nextOwner(): Owner {
    return { name: `${this.#incarnation}~${++this.#loops}`, isGone: () => false };
  }

  async #retryLater(error: unknown): Promise<void> {
    this.#report(error);
    await this.#alarm.cover(this.#backoff.next()).catch((failure: unknown) => this.#report(failure));
  }

  #report(error: unknown, context: DispatchErrorContext = { attempt: null }): void {
    const { onError, logger, processor } = this.#options;
    callSafely(
      () => onError(error, context),
      (failure) => logger.error("onError threw.", { error: loggedError(failure, processor.stackTraces) }),
    );
  }
}
