import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction, refusingEnded } from "./from-client.ts";
import { toQuestionMarks } from "./question-marks.ts";

interface KnexTransaction {
  readonly isTransaction?: boolean;
  raw(text: string, parameters: never): PromiseLike<unknown>;
  isCompleted(): boolean;
}

/**
 * A transaction of Knex on PostgreSQL.
 *
 * @example
 * await knex.transaction(async (trx) => {
 *   await trx("orders").insert({ id: order.id });
 *   await app.within(fromKnex(trx)).triggerHook("sendMail", order);
 * });
 */
export function fromKnex(transaction: KnexTransaction): AsyncTransaction {
  if (transaction?.isTransaction !== true || typeof transaction.raw !== "function") {
    throw invalidTransaction("fromKnex takes the transaction that knex.transaction gives, not knex itself.");
  }
  return fromClient({
    dialect: "postgres",
    isOpen: () => !transaction.isCompleted(),
    execute: async (text, parameters) => {
      const statement = toQuestionMarks(text, parameters);
      const answer = await refusingEnded(
        Promise.resolve(transaction.raw(statement.text, statement.parameters as never)),
      );
      return Array.isArray(answer) ? answer : (answer as { rows: object[] }).rows; // as postProcessResponse leaves it
    },
  });
}
