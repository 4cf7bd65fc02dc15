import type { Wakeups } from "../engine.ts";

type Listener = Parameters<Wakeups["subscribe"]>[0];

/** Between several databases that are open on one object's storage: nobody else can reach it. */
export class ObjectWakeups implements Wakeups {
  readonly connected = true;
  readonly #everybody: Set<Listener>;
  readonly #own = new Set<Listener>();

  constructor(everybody: Set<Listener>) {
    this.#everybody = everybody;
  }

  subscribe(listener: Listener): () => void {
    this.#own.add(listener);
    this.#everybody.add(listener);
    return () => {
      this.#own.delete(listener);
      this.#everybody.delete(listener);
    };
  }

  announce(namespace: string): void {
    if (this.#everybody.size === this.#own.size) return;
    queueMicrotask(() => {
      for (const listener of this.#everybody) if (!this.#own.has(listener)) listener([namespace]);
    });
  }

  close(): void {
    for (const listener of this.#own) this.#everybody.delete(listener);
    this.#own.clear();
  }
}
