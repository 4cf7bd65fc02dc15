import pg from "pg";

/** Counts unsettled work in PostgreSQL, on a connection of its own that none of the contenders has to pay for. */
export interface UnsettledCounter extends AsyncDisposable {
  count(): Promise<number>;
}

/** `sql` gives one row with a column `unsettled`. */
export async function openUnsettledCounter(url: string, sql: string): Promise<UnsettledCounter> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // told by the query that fails
  await client.connect();
  return {
    count: async () => Number((await client.query(sql)).rows[0].unsettled),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
