/** A query with a name, so that the server plans it once per connection. The name is unique within a schema. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

/** Where our tables are: the quoted schema name, with its dot. */
export type SchemaPrefix = string;

/**
 * The database's time in milliseconds; `$1` is null except where a test controls the clock. Statement time, not transaction
 * time, so that it moves on within a transaction.
 */
export const NOW = "coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint)";
