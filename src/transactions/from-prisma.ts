import type { AsyncTransaction } from "../store/foreign-transaction.ts";
import { fromClient, invalidTransaction, transactionEnded } from "./from-client.ts";

/** Prisma's own code: the transaction has ended, or took longer than its timeout. */
const TRANSACTION_ENDED = "P2028";

interface PrismaTransaction {
  $queryRawUnsafe(text: string, ...parameters: (string | null)[]): PromiseLike<unknown>;
}

/**
 * An interactive transaction of Prisma on PostgreSQL.
 *
 * @example
 * await prisma.$transaction(async (tx) => {
 *   await tx.order.create({ data: { id: order.id } });
 *   await app.within(fromPrisma(tx)).triggerHook("sendMail", order);
 * });
 */
export function fromPrisma(transaction: PrismaTransaction): AsyncTransaction {
  if (typeof transaction?.$queryRawUnsafe !== "function" || hasMethod(transaction, "$connect")) {
    throw invalidTransaction(
      "fromPrisma takes the client that prisma.$transaction gives to its function, not the client itself.",
    );
  }
  return fromClient({
    dialect: "postgres",
    execute: async (text, parameters) => {
      try {
        return (await transaction.$queryRawUnsafe(text, ...parameters)) as object[];
      } catch (error) {
        if ((error as { code?: unknown }).code === TRANSACTION_ENDED) throw transactionEnded(error);
        throw error;
      }
    },
  });
}

/** A transaction's client has no methods that open, close or begin. */
function hasMethod(client: object, name: string): boolean {
  return typeof (client as Record<string, unknown>)[name] === "function";
}
