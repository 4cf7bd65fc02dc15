import { createAsyncContext } from "../../async-context.ts";

/** Tells whether the running code was called from inside of a transaction. */
export interface TransactionContext {
  run<Result>(body: () => Promise<Result>): Promise<Result>;
  active(): boolean;
  /** Runs what isn't part of the transaction, though it is begun by it. */
  outside<Result>(body: () => Result): Result;
}

/**
 * What a transaction starts and leaves behind keeps its context, but isn't inside of it any more when it has ended. Null where the
 * runtime can't tell: Cloudflare without `nodejs_compat`.
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
