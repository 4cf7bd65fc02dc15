import { DatabaseSync } from "node:sqlite";

const COMMIT = /^\s*(commit|end)\b/i;

/**
 * The database of a test, in memory. It outlives the processes that use it. The application's own transactions on it are
 * observed too, where they are committed by `exec("commit")`.
 */
export class TestDatabase extends DatabaseSync {
  #onCommit: ((perform: () => void) => void) | undefined;

  constructor() {
    super(":memory:");
  }

  /** Asked to perform each commit of the application's own transactions. */
  observe(onCommit: (perform: () => void) => void): void {
    this.#onCommit = onCommit;
  }

  override exec(text: string): void {
    if (this.#onCommit !== undefined && COMMIT.test(text)) this.#onCommit(() => super.exec(text));
    else super.exec(text);
  }

  /** The same, unobserved. */
  execute(text: string): void {
    super.exec(text);
  }

  /** How many rows were ever changed: a commit that changes none is none. */
  totalChanges(): number {
    return Number(this.prepare("select total_changes() as total").get()?.total);
  }

  /** What happens to the open transaction, if there is one, when its process dies. */
  abandonTransaction(): void {
    try {
      super.exec("rollback");
    } catch {
      // there was none
    }
  }
}
