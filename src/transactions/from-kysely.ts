import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction, refusingEnded } from "./from-client.ts";

interface KyselyTransaction {
  readonly isTransaction: boolean;
  withoutPlugins(): { executeQuery(query: never): Promise<{ rows: unknown[] }> };
}

/**
 * A transaction of Kysely on PostgreSQL, also a controlled one. Plugins don't see Perdure's statements.
 *
 * @example
 * await db.transaction().execute(async (trx) => {
 *   await trx.insertInto("orders").values({ id: order.id }).execute();
 *   await app.within(fromKysely(trx)).triggerHook("sendMail", order);
 * });
 */
export function fromKysely(transaction: KyselyTransaction): AsyncTransaction {
  if (transaction?.isTransaction !== true || typeof transaction.withoutPlugins !== "function") {
    throw invalidTransaction(
      "fromKysely takes the transaction that Kysely gives to its function, not the database itself.",
    );
  }
  return fromClient({
    dialect: "postgres",
    execute: async (text, parameters) => {
      const executor = transaction.withoutPlugins();
      const { rows } = await refusingEnded((async () => executor.executeQuery(compiledQuery(text, parameters)))());
      return rows as object[];
    },
  });
}

/** As `CompiledQuery.raw` of Kysely makes it. */
function compiledQuery(sql: string, parameters: (string | null)[]): never {
  const query = { kind: "RawNode", sqlFragments: [sql], parameters: [] };
  return { sql, parameters, query, queryId: { queryId: "perdure" } } as never;
}
