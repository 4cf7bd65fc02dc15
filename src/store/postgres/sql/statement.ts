/** A query. Its name is unique within a schema. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /**
   * Whether each connection may plan it once and keep the plan. That is quick, but the plan stays as it was when the table was
   * empty, also when there are a million rows; so it is for queries that are asked all the time and that can't go far wrong.
   * Lookups of many rows by id can: a join that reads the whole table for each of them takes minutes.
   */
  readonly planOnce?: true;
  /** Whether it may take minutes. */
  readonly slow?: true;
}

/** Where our tables are: the quoted schema name, with its dot. */
export type SchemaPrefix = string;

/**
 * The database's time in milliseconds; `$1` is null except where a test controls the clock. Statement time, not transaction
 * time, so that it moves on within a transaction.
 */
export const NOW = "coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint)";

/**
 * The rows of a batch, from arrays that are passed as parameters. Together with `isRowOf` it leaves the planner one way: to look
 * up the rows of the batch in an index, one by one and in order. What it believes about the table is often wrong, because a queue
 * is empty one minute and full the next: then it would rather read the whole table for each row of the batch. So it can't
 * see how many there are, and the limit (which is none) makes it expect one. `constants` are further columns, the same for all
 * rows: a key that is partly constant is looked up like any other.
 */
export function batch(firstParameter: number, columns: Readonly<Record<string, string>>, constants = ""): string {
  return `(select *${constants} from ${arrays(firstParameter, columns)} as item(${Object.keys(columns).join(", ")}) limit (select null::bigint))`;
}

/** The same, with a column `place` that counts the rows from 1, so that answers can tell which they are about. */
export function placedBatch(firstParameter: number, columns: Readonly<Record<string, string>>): string {
  const names = [...Object.keys(columns), "place"].join(", ");
  return `(select * from ${arrays(firstParameter, columns)} with ordinality as item(${names}) limit (select null::bigint))`;
}

function arrays(firstParameter: number, columns: Readonly<Record<string, string>>): string {
  const each = Object.values(columns).map((type, index) => `(select $${firstParameter + index}::${type}[])`);
  return `unnest(${each.join(", ")})`;
}

/** Whether a row is the one that a row of a batch names. Equality by another name, which allows no other join. Index: hook_pkey. */
export function isRowOf(hook: string, item: string): string {
  return `${hook}.namespace = any (array[${item}.namespace]) and ${hook}.id = any (array[${item}.id])`;
}

/** The same for instances, which have one key. Index: instance_pkey. */
export function isInstanceOf(instance: string, item: string): string {
  return `${instance}.ref = any (array[${item}.ref])`;
}

/** The same for instances by the names that people give them. Index: instance_id. */
export function isNamedBy(instance: string, item: string): string {
  const columns = ["namespace", "name", "id"].map((column) => `${instance}.${column} = any (array[${item}.${column}])`);
  return columns.join(" and ");
}

/** The same for subjects. Index: subject_pkey. */
export function isSubjectOf(subject: string, item: string): string {
  const columns = ["profile", "dispatcher_id", "subject_key"];
  return columns.map((column) => `${subject}.${column} = any (array[${item}.${column}])`).join(" and ");
}

/**
 * Rows of a batch that names hooks, in the order in which everybody locks hooks: those without a key by id, then those with one
 * by key. Triggers find rows by key and others by id; without one order for both, two flushes could wait for each other. It is the
 * order of our columns, not that of the database, which parameters have.
 */
export function inLockingOrder(schema: SchemaPrefix, rows: string): string {
  return `(
  select item.*
  from ${rows} as item
  cross join lateral (select hook.name, hook.key from ${schema}hook as hook where ${isRowOf("hook", "item")} limit 1) as place
  order by place.key is not null, item.namespace collate "C", case when place.key is not null then place.name end, place.key,
    item.id collate "C"
)`;
}

/**
 * Follows a namespace in queries that hook_due must serve, and in that index. It is the order of bytes like "C", which all else
 * has; but an index serves only comparisons in its own collation, so no other index can be taken for these.
 */
export const IN_QUEUE_ORDER = 'collate "POSIX"';

/** The same for instance_status, which lists and counts use, and nothing else. */
export function inCatalogOrder(schema: SchemaPrefix): string {
  return `collate ${schema}catalog`;
}

/**
 * True of every instance. For statements that find instances by ref, and need nothing but what is in instance_status: this isn't, so
 * PostgreSQL won't read the whole index instead of looking up the row.
 */
export const READS_ROW = "instance.run > 0";

/**
 * Rows that a query has found, by their `ctid`, for a statement that changes them. PostgreSQL expects one, as of a `batch`, and so
 * looks them up one by one, however small it believes the table to be.
 */
export function foundRows(query: string): string {
  return `(select * from unnest(array(${query})) as found(ctid) limit (select null::bigint))`;
}
