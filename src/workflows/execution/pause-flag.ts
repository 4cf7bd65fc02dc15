/** Whether an instance is to be paused, as far as its owner knows. */
export class PauseFlag {
  #paused = false;
  #changes = 0;

  get paused(): boolean {
    return this.#paused;
  }

  /** How often this process has paused or resumed it: an answer to what was asked before knows nothing of that. */
  get changes(): number {
    return this.#changes;
  }

  /** This process has paused or resumed it. */
  change(paused: boolean): void {
    this.#paused = paused;
    this.#changes++;
  }

  /** The database says so. */
  observe(paused: boolean): void {
    this.#paused = paused;
  }

  /** An answer to what was asked when `changes` was this, with what we know better. */
  correct<Answer extends { readonly paused: boolean }>(answer: Answer, askedAt: number): Answer {
    return askedAt === this.#changes ? answer : { ...answer, paused: this.#paused };
  }
}
