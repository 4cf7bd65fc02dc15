import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction, refusingEnded } from "./from-client.ts";
import { toQuestionMarks } from "./question-marks.ts";

interface MikroOrmManager {
  isInTransaction(): boolean;
  getTransactionContext(): unknown;
  getConnection(): unknown;
}

interface MikroOrmConnection {
  execute(text: string, parameters: (string | null)[], method: "all", context: unknown): Promise<object[]>;
}

/**
 * A transaction of MikroORM on PostgreSQL.
 *
 * @example
 * await orm.em.transactional(async (em) => {
 *   em.create(OrderEntity, { id: order.id });
 *   await app.within(fromMikroOrm(em)).triggerHook("sendMail", order);
 * });
 */
export function fromMikroOrm(manager: MikroOrmManager): AsyncTransaction {
  const context = typeof manager?.isInTransaction === "function" ? manager.getTransactionContext() : undefined;
  if (context === undefined || context === null) {
    throw invalidTransaction(
      "fromMikroOrm takes an entity manager in a transaction, such as em.transactional gives to its function.",
    );
  }
  const connection = manager.getConnection() as MikroOrmConnection;
  return fromClient({
    dialect: "postgres",
    execute: (text, parameters) => {
      const statement = toQuestionMarks(text, parameters);
      return refusingEnded(connection.execute(statement.text, statement.parameters, "all", context));
    },
  });
}
