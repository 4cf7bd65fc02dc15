import { CommitOutcomeUnknownError, StoreError } from "../../errors.ts";
import type { Receipt } from "../request-statements.ts";
import type { PostgresClient } from "./driver.ts";
import { withdrawReceipts, writeReceipts } from "./sql/requests.ts";
import { PostgresStatements } from "./statements.ts";
import { inTransactionOf } from "./transaction.ts";

/** Something that is done with a receipt. */
export interface Receipted {
  readonly namespace: string;
  readonly receipt: Receipt;
}

/** Receipts, which are the first that a transaction writes. */
export class PostgresReceipts extends PostgresStatements {
  /** A transaction that writes receipts may be sent again, also if the reply to its commit was lost: they say what has happened. */
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
    const first = new Map(items.map((item) => [idOf(item.namespace, item.receipt.key), item] as const).reverse());
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
    return unique.filter(({ namespace, receipt }) => written.has(idOf(namespace, receipt.key)));
  }

  async withdraw(items: readonly Receipted[], client: PostgresClient): Promise<void> {
    if (items.length === 0) return;
    const values = [items.map(({ namespace }) => namespace), items.map(({ receipt }) => receipt.key)];
    await this.run(withdrawReceipts, values, client);
  }
}

function idOf(namespace: string, key: string): string {
  return `${key} ${namespace}`;
}
