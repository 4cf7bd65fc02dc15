/** A run of which more than this has been loaded is large: of such runs one is loaded at a time. */
const LARGE_BYTES = 1024 * 1024;
/** While more than this is held of other runs, the load of a large one waits. */
const MOST_HELD_BYTES = 64 * LARGE_BYTES;

/**
 * How much of what was loaded a process holds in memory. Many large runs may wake at once: each of them waits with its next
 * page until those before it are loaded, and enough of what they hold is given back. A large run that is alone is loaded
 * whatever its size. A load that waits here holds nothing that earlier loads need, so none waits for ever.
 */
export class LoadBudget {
  #held = 0;
  #lastTurn: Promise<void> = Promise.resolve();
  #waiting: (() => void)[] = [];

  get held(): number {
    return this.#held;
  }

  /** A load begins. */
  begin(): HeldLoad {
    return new HeldLoad(this);
  }

  /** @internal */
  change(bytes: number): void {
    this.#held += bytes;
    if (bytes < 0) for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** @internal Resolves when it is the caller's turn, with what ends the turn. */
  async takeTurn(): Promise<() => void> {
    const before = this.#lastTurn;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastTurn = promise;
    await before;
    return resolve;
  }

  /** @internal Resolves when others hold little enough. */
  async awaitRoom(own: number): Promise<void> {
    while (this.#held - own > MOST_HELD_BYTES) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }
}

/** The bytes that one load holds. */
export class HeldLoad {
  readonly #budget: LoadBudget;
  #bytes = 0;
  #endTurn: (() => void) | undefined;

  constructor(budget: LoadBudget) {
    this.#budget = budget;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.change(bytes);
  }

  /** Resolves when the next page may be loaded. */
  async nextPage(): Promise<void> {
    if (this.#bytes <= LARGE_BYTES) return;
    this.#endTurn ??= await this.#budget.takeTurn();
    await this.#budget.awaitRoom(this.#bytes);
  }

  /** No page follows. */
  loaded(): void {
    this.#endTurn?.();
    this.#endTurn = undefined;
  }

  /** The loaded data is no longer in memory. */
  release(): void {
    this.loaded();
    if (this.#bytes > 0) this.#budget.change(-this.#bytes);
    this.#bytes = 0;
  }
}
