import pg from "pg";

/** Counts rows in PostgreSQL, on a connection of its own that none of the contenders has to pay for. */
export interface PostgresCount extends AsyncDisposable {
  count(): Promise<number>;
}

/** `sql` gives one row with a column `count`. */
export async function openPostgresCount(url: string, sql: string): Promise<PostgresCount> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // the failing query reports it
  await client.connect();
  return {
    count: async () => Number((await client.query(sql)).rows[0].count),
    [Symbol.asyncDispose]: () => client.end(),
  };
}
