import { StoreError } from "../../../src/errors.ts";
import type { HookStatements } from "../../../src/store/hooks/hook-statements.ts";
import type { InstanceStatements } from "../../../src/store/instances/instance-statements.ts";

function connectionLost(): StoreError {
  return new StoreError("store.unavailable", "the connection was cut", { transient: true });
}

type Statements = HookStatements | InstanceStatements;

/** A database whose answers to one kind of call are lost as long as a test wants it. */
export class Unanswered<Subject extends Statements, Name extends keyof Subject> {
  lost = 0;
  readonly #statements: Subject;
  readonly #name: Name;
  readonly #call: (...request: unknown[]) => Promise<unknown>;
  #most = Number.POSITIVE_INFINITY;
  #late: (() => Promise<unknown>)[] | undefined;

  /** With `most`, only so many answers are lost. */
  constructor(statements: Subject, name: Name, most = Number.POSITIVE_INFINITY) {
    this.#statements = statements;
    this.#name = name;
    this.#most = most;
    this.#call = (statements[name] as () => Promise<unknown>).bind(statements);
    this.#replace(async (...request) => {
      if (this.lost === this.#most) return this.#call(...request);
      this.lost++;
      if (this.#late === undefined) await this.#call(...request);
      else this.#late.push(() => this.#call(...request));
      throw connectionLost();
    });
  }

  /** What is asked isn't even done, until `finish` is called. */
  abandon(): this {
    this.#late = [];
    return this;
  }

  /** The database does what it was asked, long after its callers have given up. */
  async finish(): Promise<void> {
    for (const call of this.#late?.splice(0) ?? []) await call();
  }

  end(): void {
    this.#replace(this.#call);
  }

  #replace(call: (...request: unknown[]) => Promise<unknown>): void {
    this.#statements[this.#name] = call as Subject[Name];
  }
}
