import { PerdureError } from "../errors.ts";

/** Whether a process lives. When it dies, none of its promises settle: its code stops there, as in a killed process. */
export class ProcessLife {
  readonly #death = Promise.withResolvers<void>();
  #dead = false;
  #replies = 0;

  get dead(): boolean {
    return this.#dead;
  }

  /** How many answers it has got. */
  get replies(): number {
    return this.#replies;
  }

  /** Resolves when the process dies. */
  get death(): Promise<void> {
    return this.#death.promise;
  }

  end(): void {
    this.#dead = true;
    this.#death.resolve();
  }

  /** The answer, if the process lives to see it. */
  reply<Answer>(answer: Promise<Answer>): Promise<Answer> {
    if (this.#dead) {
      answer.catch(() => {});
      return forever();
    }
    return new Promise((resolve, reject) => {
      const whileAlive = (settle: () => void) => {
        this.#replies++;
        if (!this.#dead) settle();
      };
      answer.then(
        (value) => whileAlive(() => resolve(value)),
        (error: unknown) => whileAlive(() => reject(error)),
      );
    });
  }

  /** For callers that outlive the process: the answer, or undefined if the process dies before. */
  orAtDeath<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
    return Promise.race([answer, this.death.then(() => undefined)]);
  }

  /** For synchronous calls, which can't be left unanswered. */
  refuseDead(): void {
    if (this.#dead) throw new PerdureError("testing.process_crashed", "The process has crashed.");
  }
}

export function forever(): Promise<never> {
  return new Promise(() => {});
}
