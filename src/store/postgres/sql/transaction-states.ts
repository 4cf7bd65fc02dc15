import type { Statement } from "./statement.ts";

/** What became of transactions. It reads the server's record of transactions, and no table. */
export function transactionStates(): Statement {
  return {
    name: "transaction_states",
    text: "select id, pg_xact_status(id::xid8) as status from unnest($1::text[]) as id",
  };
}
