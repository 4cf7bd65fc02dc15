import { InvalidInputError } from "../errors.ts";
import type { AsyncTransaction, Awaitable, ForeignTransaction } from "../store/foreign-transaction.ts";

/**
 * Calls in an asynchronous transaction that haven't ended. One that isn't awaited may be about to send its statement when the
 * transaction ends: on a connection that has begun the next transaction, it would become part of that one. Where the library
 * tells of the end, the call is refused instead.
 */
export class PendingCalls {
  readonly transaction: AsyncTransaction;
  readonly #given: AsyncTransaction;
  #count = 0;
  /** Whether the transaction has ended since the oldest of them began. */
  #outlived = false;
  #stopListening: (() => void) | undefined;

  constructor(transaction: AsyncTransaction) {
    this.#given = transaction;
    this.transaction = {
      ...transaction,
      execute: async (text, parameters) => {
        if (this.#outlived) throw notAwaited();
        return transaction.execute(text, parameters);
      },
    };
  }

  async run<Result>(entered: ForeignTransaction, call: () => Awaitable<Result>): Promise<Result> {
    if (this.#count++ === 0) this.#listen();
    try {
      if (entered.mode === "async") entered.enter?.();
      return await call();
    } finally {
      if (--this.#count === 0) this.#stopListening?.();
    }
  }

  #listen(): void {
    this.#outlived = false;
    this.#stopListening = this.#given.onEnd?.(() => {
      this.#outlived = true;
    });
  }
}

function notAwaited(): InvalidInputError {
  return new InvalidInputError(
    "transaction.not_open",
    "The transaction ended before this call was written, so it wasn't. Await every call before the transaction ends.",
  );
}
