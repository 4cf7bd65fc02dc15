import { CommitOutcomeUnknownError, StoreError } from "../../errors.ts";
import type { Receipt } from "../request-statements.ts";
import type { PostgresClient } from "./connection/driver.ts";
import { inTransactionOf } from "./connection/transaction.ts";
import { withdrawReceipts, writeReceipts } from "./sql/requests.ts";
import { PostgresStatements } from "./statements.ts";

/** Something that is done with a receipt. */
export interface Receipted {
  readonly namespace: string;
  readonly receipt: Receipt;
}

type MaybeReceipted = Omit<Receipted, "receipt"> & { readonly receipt?: Receipt };

/** How something is done at most once by all who have its receipt. */
interface OnceEach<Item, Result> {
  /** In a transaction, where a client is given: then items are never empty. */
  perform(items: readonly Item[], on?: PostgresClient): Promise<Result[]>;
  /** Whether the receipt stays. What was refused may be asked for again. */
  isDone(result: Result, item: Item): boolean;
  /** The result of an item whose receipt was there. */
  repeat(item: Item): Result;
}

/** Receipts, which are the first that a transaction writes. */
export class PostgresReceipts extends PostgresStatements {
  /**
   * A transaction that writes receipts may be sent again, also if the reply to its commit was lost: they say what has happened.
   */
  async transaction<Result>(body: (client: PostgresClient) => Promise<Result>): Promise<Result> {
    try {
      return await inTransactionOf(this.connection, body);
    } catch (error) {
      if (!(error instanceof CommitOutcomeUnknownError)) throw error;
      throw new StoreError("store.unavailable", "The reply to a commit was lost.", { cause: error, transient: true });
    }
  }

  /** Gives those whose receipts weren't there, and are now. Waits for others who are writing the same. */
  async write<Item extends Receipted>(items: readonly Item[], client: PostgresClient): Promise<Item[]> {
    const first = new Map(items.map((item) => [keyOf(item), item] as const).reverse());
    const unique = [...first.values()];
    const values = [
      this.now(),
      unique.map(({ namespace }) => namespace),
      unique.map(({ receipt }) => receipt.key),
      unique.map(({ receipt }) => receipt.note),
      unique.map(({ receipt }) => receipt.keepMs),
    ];
    const { rows } = await this.run(writeReceipts, values, client);
    const written = new Set(rows.map(({ namespace, key }) => idOf(String(namespace), String(key))));
    return unique.filter((item) => written.has(keyOf(item)));
  }

  /**
   * Does what has a receipt in one transaction with that, and all else as usual. Returns the results in the order of the items.
   */
  async each<Item extends MaybeReceipted, Result>(
    items: readonly Item[],
    { perform, isDone, repeat }: OnceEach<Item, Result>,
  ): Promise<Result[]> {
    const receipted = items.filter(isReceipted);
    if (receipted.length === 0) return perform(items);
    const results = new Map<Item, Result>();
    const collect = (done: readonly Item[], all: readonly Result[]) => {
      for (const [index, item] of done.entries()) results.set(item, all[index] as Result);
    };
    const refused = await this.transaction(async (on) => {
      const first = await this.write(receipted, on);
      if (first.length > 0) collect(first, await perform(first, on));
      const refusals = first.filter((item) => !isDone(results.get(item) as Result, item));
      await this.withdraw(refusals, on);
      return new Map(refusals.map((item) => [keyOf(item), results.get(item) as Result]));
    });
    const others = items.filter((item) => !isReceipted(item));
    if (others.length > 0) collect(others, await perform(others));
    for (const item of receipted) {
      if (!results.has(item)) results.set(item, refused.get(keyOf(item)) ?? repeat(item));
    }
    return items.map((item) => results.get(item) as Result);
  }

  async withdraw(items: readonly Receipted[], client: PostgresClient): Promise<void> {
    if (items.length === 0) return;
    const values = [items.map(({ namespace }) => namespace), items.map(({ receipt }) => receipt.key)];
    await this.run(withdrawReceipts, values, client);
  }
}

function isReceipted<Item extends MaybeReceipted>(item: Item): item is Item & Receipted {
  return item.receipt !== undefined;
}

function keyOf({ namespace, receipt }: Receipted): string {
  return idOf(namespace, receipt.key);
}

function idOf(namespace: string, key: string): string {
  return `${key} ${namespace}`;
}
