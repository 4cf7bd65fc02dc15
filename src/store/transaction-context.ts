import { createAsyncContext } from "../async-context.ts";

/** Tells whether the running code was called inside a transaction. */
export interface TransactionContext {
  run<Result>(body: () => Promise<Result>): Promise<Result>;
  active(): boolean;
  /** Runs what isn't part of the transaction, though it is begun by it. */
  outside<Result>(body: () => Result): Result;
}

/**
 * Work that a transaction starts without awaiting keeps its context, but is no longer inside once the transaction has ended.
 * Null where the runtime can't tell: Cloudflare without `nodejs_compat`.
 */
export function createTransactionContext(): TransactionContext | null {
  const context = createAsyncContext<{ open: boolean }>();
  if (context === null) return null;
  return {
    async run(body) {
      const transaction = { open: true };
      try {
        return await context.run(transaction, body);
      } finally {
        transaction.open = false;
      }
    },
    active: () => context.get()?.open === true,
    outside: (body) => context.run(undefined, body),
  };
}
