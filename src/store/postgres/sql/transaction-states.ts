import type { Statement } from "./statement.ts";

/** The outcome of transactions, from the server's own record; no table is read. */
export function transactionStates(): Statement {
  return {
    name: "transaction_states",
    text: "select id, pg_xact_status(id::xid8) as status from unnest($1::text[]) as id",
  };
}
