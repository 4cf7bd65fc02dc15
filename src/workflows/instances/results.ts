import type { Clock } from "../../clock.ts";
import { isStoreClosed, PerdureError } from "../../errors.ts";
import type { InstanceName, InstanceRecord } from "../../store/instances/instance-records.ts";
import { finishedTopic, type Topic } from "../../store/queue/work-board.ts";
import type { Store } from "../../store/store.ts";
import { EarliestTimer } from "../earliest-timer.ts";

/** How a run ended. */
export type FinishedRun =
  | { readonly status: "complete"; readonly output: string }
  | { readonly status: "errored"; readonly error: string }
  | { readonly status: "terminated" };

/** A waiter; exactly one of its methods is called, once. */
interface ResultWaiter {
  /** Null if the instance was deleted. */
  finished(run: FinishedRun | null): void;
  /** The result can't be known: the database was closed. */
  failed(error: unknown): void;
}

const MOST_AT_ONCE = 500;
/** The poll intervals: if other processes can announce their endings, and if they can't. */
const SLOW_POLL_MS = 5000;
const FAST_POLL_MS = 500;
/** Notices within this time share one query. */
const GATHER_MS = 5;

/**
 * The waiters for endings. Endings in this process are told to them directly. Endings in other processes are found by one query
 * for all waiters: when one is announced, and at an interval.
 */
export class ResultWaiters {
  readonly #store: Store;
  readonly #timer: EarliestTimer;
  readonly #topic: Topic;
  readonly #waiting = new Map<string, { readonly instance: InstanceName; readonly waiters: ResultWaiter[] }>();
  /** The instances that the next poll asks for, by key. */
  readonly #asked = new Set<string>();
  #polling = false;
  #deferred = false;
  #unlisten: (() => void) | undefined;

  constructor(store: Store, namespace: string) {
    this.#store = store;
    this.#timer = new EarliestTimer(store.clock, () => this.#askForAll());
    this.#topic = finishedTopic(namespace);
  }

  /** Calls the waiter once, when the instance is finished; with `look`, also if it is already. */
  wait(instance: InstanceName, waiter: ResultWaiter, { look }: { look: boolean }): void {
    const key = keyOf(instance);
    const known = this.#waiting.get(key);
    if (known === undefined) this.#waiting.set(key, { instance, waiters: [waiter] });
    else known.waiters.push(waiter);
    this.#unlisten ??= this.#store.work.listen((names) => this.#heard(names));
    this.#pollInTime();
    if (look) this.#ask([key]);
  }

  /** The waiter isn't called any more. */
  leave(instance: InstanceName, waiter: ResultWaiter): void {
    const key = keyOf(instance);
    const { waiters = [] } = this.#waiting.get(key) ?? {};
    const index = waiters.indexOf(waiter);
    if (index < 0) return;
    waiters.splice(index, 1);
    if (waiters.length > 0) return;
    this.#waiting.delete(key);
    this.#rest();
  }

  /** This process has finished the instance. */
  finished(instance: InstanceName, run: FinishedRun | null): void {
    this.#tell(keyOf(instance), run);
    this.#store.work.announce(this.#topic);
  }

  /** Other processes may finish it without being able to announce it. */
  #pollInTime(): void {
    const { alone, connected } = this.#store.work;
    if (!alone) this.#timer.after(connected ? SLOW_POLL_MS : FAST_POLL_MS);
  }

  #tell(key: string, run: FinishedRun | null): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    this.#rest();
    for (const waiter of waiting.waiters) waiter.finished(run);
  }

  #failAll(error: unknown): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.#rest();
    for (const waiter of waiting.flatMap(({ waiters }) => waiters)) waiter.failed(error);
  }

  /** Stops listening and polling when there are no waiters. */
  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#timer.cancel();
    this.#unlisten?.();
    this.#unlisten = undefined;
  }

  #heard(names: readonly string[] | null): void {
    if (names === null || names.includes(this.#topic)) this.#timer.after(GATHER_MS);
  }

  #askForAll(): void {
    this.#ask(this.#waiting.keys());
  }

  /** Requests of one turn of the event loop, or during a poll, share the next query. */
  #ask(keys: Iterable<string>): void {
    for (const key of keys) this.#asked.add(key);
    if (this.#polling || this.#deferred) return;
    this.#deferred = true;
    this.#store.clock.defer(() => {
      this.#deferred = false;
      void this.#poll();
    });
  }

  async #poll(): Promise<void> {
    const asked = [...this.#asked].filter((key) => this.#waiting.has(key));
    this.#asked.clear();
    if (asked.length === 0) return;
    this.#polling = true;
    try {
      for (let start = 0; start < asked.length; start += MOST_AT_ONCE) {
        const some = asked.slice(start, start + MOST_AT_ONCE).flatMap((key) => this.#waiting.get(key)?.instance ?? []);
        const records = await this.#store.instances.statements.find(some);
        for (const [index, instance] of some.entries()) this.#compare(keyOf(instance), records[index] ?? null);
      }
    } catch (error) {
      if (isStoreClosed(error)) this.#failAll(error); // otherwise the database is unreachable, and the next poll asks again
    } finally {
      this.#polling = false;
      if (this.#asked.size > 0) this.#ask([]);
      if (this.#waiting.size > 0) this.#pollInTime();
    }
  }

  #compare(key: string, record: InstanceRecord | null): void {
    const run = record === null ? null : toFinishedRun(record);
    if (run !== undefined) this.#tell(key, run);
  }
}

/** Undefined while it isn't finished. */
export function toFinishedRun({ status, output, error }: InstanceRecord): FinishedRun | undefined {
  if (status === "complete") return { status, output: output as string };
  if (status === "errored") return { status, error: error as string };
  return status === "terminated" ? { status } : undefined;
}

function keyOf({ namespace, name, id }: InstanceName): string {
  return `${namespace} ${name} ${id}`;
}

interface RunWait {
  /** Whether it may already be finished. */
  readonly look: boolean;
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal | undefined;
}

/** Waits for the end of an instance's run. Resolves with null if the instance was deleted. */
export function waitForRun(
  { results, clock }: { readonly results: ResultWaiters; readonly clock: Clock },
  instance: InstanceName,
  { look, timeoutMs, signal }: RunWait,
): Promise<FinishedRun | null> {
  return new Promise((resolve, reject) => {
    if (timeoutMs === null && signal === undefined) {
      results.wait(instance, { finished: resolve, failed: reject }, { look });
      return;
    }
    const rest = () => {
      timer?.cancel();
      signal?.removeEventListener("abort", abort);
    };
    const failed = (error: unknown) => {
      rest();
      reject(error);
    };
    const finished = (run: FinishedRun | null) => {
      rest();
      resolve(run);
    };
    const waiter = { finished, failed };
    const stop = (error: unknown) => {
      results.leave(instance, waiter);
      failed(error);
    };
    const abort = () => stop(signal?.reason);
    results.wait(instance, waiter, { look });
    const timer = timeoutMs === null ? undefined : clock.setTimer(() => stop(late(instance)), timeoutMs);
    signal?.addEventListener("abort", abort);
  });
}

function late({ id }: InstanceName): PerdureError {
  return new PerdureError("result.timeout", `The instance "${id}" wasn't finished in time; it continues to run.`);
}
