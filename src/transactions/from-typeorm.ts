import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction, refusingEnded } from "./from-client.ts";

interface TypeOrmManager {
  readonly queryRunner?: TypeOrmQueryRunner | undefined;
}

interface TypeOrmQueryRunner {
  readonly isTransactionActive: boolean;
  readonly isReleased: boolean;
  query(text: string, parameters?: (string | null)[]): Promise<unknown>;
}

/**
 * A transaction of TypeORM on PostgreSQL.
 *
 * @example
 * await dataSource.transaction(async (manager) => {
 *   await manager.insert(OrderEntity, { id: order.id });
 *   await app.within(fromTypeOrm(manager)).triggerHook("sendMail", order);
 * });
 */
export function fromTypeOrm(manager: TypeOrmManager): AsyncTransaction {
  const runner = manager?.queryRunner;
  if (typeof runner?.query !== "function") {
    throw invalidTransaction(
      "fromTypeOrm takes the manager that dataSource.transaction gives to its function, or that of a query runner.",
    );
  }
  return fromClient({
    dialect: "postgres",
    isOpen: () => (runner.isTransactionActive && !runner.isReleased ? null : false), // active until its end is answered
    execute: async (text, parameters) => (await refusingEnded(runner.query(text, parameters))) as object[],
  });
}
