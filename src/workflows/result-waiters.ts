import type { Timer } from "../clock.ts";
import type { InstanceName, InstanceRecord } from "../store/instance-records.ts";
import type { Store } from "../store/store.ts";
import type { Topic } from "../store/work-board.ts";

/** How a run ended. */
export type FinishedRun =
  | { readonly status: "complete"; readonly output: string }
  | { readonly status: "errored"; readonly error: string }
  | { readonly status: "terminated" };

/** `null`: the instance was deleted. */
type Told = (run: FinishedRun | null) => void;

const MOST_AT_ONCE = 500;
/** How often to look, where other processes tell us of what they finish, and where they can't. */
const SLOW_POLL_MS = 5000;
const FAST_POLL_MS = 500;
/** What is heard within this time is answered together. */
const GATHER_MS = 5;

/**
 * Those who wait for instances to end. What this process finishes, it tells them itself; of what others finish they learn by one
 * query for all, asked when somebody announces it, and from time to time.
 */
export class ResultWaiters {
  readonly #store: Store;
  readonly #topic: Topic;
  readonly #waiting = new Map<string, { readonly instance: InstanceName; readonly told: Set<Told> }>();
  #timer: Timer | undefined;
  #timerAt = 0;
  #polling = false;
  /** Whether somebody has come who doesn't know yet whether it is finished already. */
  #soon = false;
  #unlisten: (() => void) | undefined;

  constructor(store: Store, namespace: string) {
    this.#store = store;
    this.#topic = `${namespace}~finished`;
  }

  /** Calls back once, when the instance is finished; at once in effect, if it is and `look` is true. Gives a way to stop. */
  wait(instance: InstanceName, told: Told, { look }: { look: boolean }): () => void {
    const key = keyOf(instance);
    const known = this.#waiting.get(key);
    if (known === undefined) this.#waiting.set(key, { instance, told: new Set([told]) });
    else known.told.add(told);
    this.#unlisten ??= this.#store.work.listen((names) => this.#heard(names));
    this.#pollInTime();
    if (look) this.#pollSoon();
    return () => this.#leave(key, told);
  }

  /** This process has finished it, by running it or otherwise. */
  finished(instance: InstanceName, run: FinishedRun | null): void {
    this.#tell(keyOf(instance), run);
    this.#store.work.announce(this.#topic);
  }

  /** Others may finish it, and not be able to tell us. */
  #pollInTime(): void {
    const { alone, connected } = this.#store.work;
    if (!alone) this.#pollAfter(connected ? SLOW_POLL_MS : FAST_POLL_MS);
  }

  #tell(key: string, run: FinishedRun | null): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined) return;
    this.#waiting.delete(key);
    this.#rest();
    for (const told of waiting.told) told(run);
  }

  #leave(key: string, told: Told): void {
    const waiting = this.#waiting.get(key);
    if (waiting === undefined || !waiting.told.delete(told) || waiting.told.size > 0) return;
    this.#waiting.delete(key);
    this.#rest();
  }

  /** Nobody waits: nothing to hear, nothing to ask. */
  #rest(): void {
    if (this.#waiting.size > 0) return;
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#unlisten?.();
    this.#unlisten = undefined;
  }

  #heard(names: readonly string[] | null): void {
    if (names === null || names.includes(this.#topic)) this.#pollAfter(GATHER_MS);
  }

  #pollAfter(milliseconds: number): void {
    const { clock } = this.#store;
    const at = clock.monotonic() + milliseconds;
    if (this.#timer !== undefined && this.#timerAt <= at) return;
    this.#timer?.cancel();
    this.#timerAt = at;
    this.#timer = clock.setTimer(() => {
      this.#timer = undefined;
      void this.#poll();
    }, milliseconds);
  }

  #pollSoon(): void {
    if (this.#soon) return;
    this.#soon = true;
    this.#store.clock.defer(() => void this.#poll());
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#soon = false;
    if (this.#waiting.size === 0) return;
    this.#polling = true;
    try {
      const waiting = [...this.#waiting];
      for (let start = 0; start < waiting.length; start += MOST_AT_ONCE) {
        const some = waiting.slice(start, start + MOST_AT_ONCE);
        const records = await this.#store.instances.statements.find(some.map(([, { instance }]) => instance));
        for (const [index, [key]] of some.entries()) this.#compare(key, records[index] ?? null);
      }
    } catch {
      // the database is away: the next poll asks again
    } finally {
      this.#polling = false;
      if (this.#soon) {
        this.#soon = false;
        this.#pollSoon();
      } else if (this.#waiting.size > 0) this.#pollInTime();
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
