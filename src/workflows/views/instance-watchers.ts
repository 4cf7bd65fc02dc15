import { isStoreClosed } from "../../errors.ts";
import type { InstancePosition } from "../../store/instances/instance-records.ts";
import type { Store } from "../../store/store.ts";
import { EarliestTimer } from "../earliest-timer.ts";

const MOST_AT_ONCE = 500;
/** While nothing changes, the interval between looks grows from the first to the second value. */
const FIRST_POLL_MS = 100;
const LONGEST_POLL_MS = 2000;
/** Notices within this time share one look. */
const GATHER_MS = 5;
/** Journal pages that all readers of this process read at the same time; each may be large. */
const MOST_READS = 4;

/** A reader that wants to know when its instance changes. */
export class InstanceWatcher {
  readonly ref: string;
  /** The state that the reader has seen. */
  seen: InstancePosition | null = null;
  /** Whether something has changed since its last look. */
  stale = false;
  #wake: (() => void) | undefined;

  constructor(ref: string) {
    this.ref = ref;
  }

  get waiting(): boolean {
    return this.#wake !== undefined;
  }

  /** Wakes the reader for another look. */
  wait(): Promise<void> {
    if (this.stale) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  tell(): void {
    this.stale = true;
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

/**
 * The readers of this process. Changes by this process wake them at once. For changes by other processes, one query asks for
 * all waiting readers: when a change is announced, and in growing intervals in any case.
 */
export class InstanceWatchers {
  readonly #store: Store;
  readonly #timer: EarliestTimer;
  readonly #names: readonly string[];
  readonly #watchers = new Map<string, Set<InstanceWatcher>>();
  readonly #waitingReads: (() => void)[] = [];
  #reads = 0;
  #interval = FIRST_POLL_MS;
  #polling = false;
  #unlisten: (() => void) | undefined;

  constructor(store: Store, namespace: string) {
    this.#store = store;
    this.#timer = new EarliestTimer(store.clock, () => void this.#poll());
    this.#names = [namespace, `${namespace}~finished`];
  }

  join(watcher: InstanceWatcher): void {
    const known = this.#watchers.get(watcher.ref);
    if (known === undefined) this.#watchers.set(watcher.ref, new Set([watcher]));
    else known.add(watcher);
    this.#unlisten ??= this.#store.work.listen((names) => this.#heard(names));
  }

  leave(watcher: InstanceWatcher): void {
    const known = this.#watchers.get(watcher.ref);
    known?.delete(watcher);
    if (known?.size === 0) this.#watchers.delete(watcher.ref);
    if (this.#watchers.size > 0) return;
    this.#timer.cancel();
    this.#unlisten?.();
    this.#unlisten = undefined;
  }

  /** Waits until there may be something new. */
  async wait(watcher: InstanceWatcher): Promise<void> {
    const told = watcher.wait();
    if (watcher.waiting && !this.#store.work.alone) this.#timer.after(FIRST_POLL_MS);
    await told;
  }

  /** Reads a page when fewer than the allowed number of reads are under way. */
  async reading<Page>(read: () => Promise<Page>): Promise<Page> {
    if (this.#reads >= MOST_READS) await new Promise<void>((resolve) => this.#waitingReads.push(resolve));
    else this.#reads += 1;
    try {
      return await read();
    } finally {
      const next = this.#waitingReads.shift(); // it takes over this read's turn
      if (next === undefined) this.#reads -= 1;
      else next();
    }
  }

  /** This process has changed the instance. */
  touched(ref: string): void {
    if (this.#watchers.size === 0) return;
    for (const watcher of this.#watchers.get(ref) ?? []) watcher.tell();
  }

  #heard(names: readonly string[] | null): void {
    if (names === null || names.some((name) => this.#names.includes(name))) this.#timer.after(GATHER_MS);
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    let news = false;
    try {
      const refs = this.#waitingRefs();
      for (let start = 0; start < refs.length; start += MOST_AT_ONCE) {
        const some = refs.slice(start, start + MOST_AT_ONCE);
        const positions = await this.#store.instances.statements.positions(some);
        for (const [index, ref] of some.entries()) news = this.#compare(ref, positions[index] ?? null) || news;
      }
    } catch (error) {
      if (isStoreClosed(error)) this.#tellAll(); // else the database is away: the next look asks again
    } finally {
      this.#polling = false;
      this.#interval = news ? FIRST_POLL_MS : Math.min(this.#interval * 2, LONGEST_POLL_MS);
      if (this.#waitingRefs().length > 0) this.#timer.after(this.#interval);
    }
  }

  /** Wakes all readers: their next read fails with the reason. */
  #tellAll(): void {
    for (const watcher of [...this.#watchers.values()].flatMap((some) => [...some])) watcher.tell();
  }

  #waitingRefs(): string[] {
    const waiting = [...this.#watchers].filter(([, watchers]) => [...watchers].some((one) => one.waiting));
    return waiting.map(([ref]) => ref);
  }

  #compare(ref: string, position: InstancePosition | null): boolean {
    let news = false;
    for (const watcher of this.#watchers.get(ref) ?? []) {
      if (!watcher.waiting || isSame(watcher.seen, position)) continue;
      news = true;
      watcher.tell();
    }
    return news;
  }
}

function isSame(left: InstancePosition | null, right: InstancePosition | null): boolean {
  if (left === null || right === null) return left === right;
  return left.run === right.run && left.status === right.status && left.position === right.position;
}
