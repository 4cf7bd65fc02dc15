import { WorkClass } from "../../queue/work-class.ts";

/** A prepared statement. Its name is unique within a schema. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  /**
   * Whether each connection may plan it once and keep the plan. That saves time, but a plan that was made for an empty table
   * stays when the table has a million rows. So it is for frequent statements whose plan can't go far wrong. Lookups of many
   * rows by id can: a join that reads the whole table for each of them takes minutes.
   */
  readonly planOnce?: true;
  /** Whether it may take minutes. */
  readonly slow?: true;
  /** Whether it notes lines that are told at the commit of its transaction. See `tellNotedLines`. */
  readonly tellsLater?: true;
}

/** The schema of Perdure's tables: its quoted name, followed by a dot. */
export type SchemaPrefix = string;

/**
 * The database's time in milliseconds. `$1` is null unless a test controls the clock. It is the time of the statement, because
 * that of the transaction stands still.
 */
export const NOW = "coalesce($1::bigint, (extract(epoch from statement_timestamp()) * 1000)::bigint)";

/** The database's time. Index: none. */
export function readTime(_schema: SchemaPrefix): Statement {
  return { name: "read_time", text: `select ${NOW} as now` };
}

/** The level of transactions that name none. Index: none. */
export function readIsolation(): Statement {
  return { name: "read_isolation", text: "select current_setting('default_transaction_isolation') as level" };
}

/** The outcome of transactions, from the server's own record. Index: none. */
export function transactionStates(): Statement {
  return {
    name: "transaction_states",
    text: "select id, pg_xact_status(id::xid8) as status from unnest($1::text[]) as id",
  };
}

/**
 * The rows of a batch, from array parameters. Together with `isRowOf` it leaves the planner one choice: to look up the rows of
 * the batch in an index, one by one and in order. The planner's statistics are often wrong, because a queue is empty one minute
 * and full the next, and then it might read the whole table for each row of the batch. So the number of rows is hidden from it,
 * and the limit, which is none, makes it expect one. `constants` are further columns, the same for all rows, so that a key that
 * is partly constant is looked up like any other.
 */
export function batch(firstParameter: number, columns: Readonly<Record<string, string>>, constants = ""): string {
  return `(select *${constants} from ${arrays(firstParameter, columns)} as item(${Object.keys(columns).join(", ")}) limit (select null::bigint))`;
}

/** The same, with a column `index` that counts the rows from 1, so that an answer can name a row of the batch. */
export function indexedBatch(firstParameter: number, columns: Readonly<Record<string, string>>): string {
  const names = [...Object.keys(columns), "index"].join(", ");
  return `(select * from ${arrays(firstParameter, columns)} with ordinality as item(${names}) limit (select null::bigint))`;
}

function arrays(firstParameter: number, columns: Readonly<Record<string, string>>): string {
  const each = Object.values(columns).map((type, index) => `(select $${firstParameter + index}::${type}[])`);
  return `unnest(${each.join(", ")})`;
}

/**
 * Whether a row is the one that a row of a batch names. It is equality in a form that allows only one kind of join. Index:
 * hook_pkey.
 */
export function isRowOf(hook: string, item: string): string {
  return `${hook}.namespace = any (array[${item}.namespace]) and ${hook}.id = any (array[${item}.id])`;
}

/** The same for instances, which have one key. Index: instance_pkey. */
export function isInstanceOf(instance: string, item: string): string {
  return `${instance}.ref = any (array[${item}.ref])`;
}

/** The same for instances by workflow and id. Index: instance_id. */
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
 * The rows of a batch that names hooks, in the order in which every statement locks hooks: those without a key by id, then
 * those with a key by key. Triggers find rows by key and others by id; without one order for both, two flushes could deadlock.
 * The collation is that of the columns, because parameters have the database's. Index: hook_pkey.
 */
export function inLockingOrder(schema: SchemaPrefix, rows: string): string {
  return `(
  select item.*
  from ${rows} as item
  cross join lateral (select hook.name, hook.key from ${schema}hook as hook where ${isRowOf("hook", "item")} limit 1) as stored
  order by stored.key is not null, item.namespace collate "C", case when stored.key is not null then stored.name end, stored.key,
    item.id collate "C"
)`;
}

/**
 * The collation of the indexes that serve claims (hook_due, instance_due, subject_due, subject_group_due) and of the
 * comparisons in their statements. It orders by bytes, as "C" does, which all else has. An index serves only comparisons in its
 * own collation, so the planner can't choose another index for these statements.
 */
export const IN_QUEUE_ORDER = 'collate "POSIX"';

/** The same for instance_waiting and instance_finished, which only lists and counts use. */
export function inCatalogOrder(schema: SchemaPrefix): string {
  return `collate ${schema}catalog`;
}

/** An unfinished instance that no owner holds. Index: instance_waiting has exactly these. */
export const WAITS = `outcome is null and (class <> ${WorkClass.leased} or lock is null)`;

/**
 * True for every instance. For statements that find instances by ref and need only columns of instance_finished: `run` isn't in
 * that index, so PostgreSQL looks up the row instead of reading the whole index.
 */
export const READS_ROW = "instance.run > 0";

/**
 * Rows that a query has found, by their `ctid`, for a statement that changes them. PostgreSQL expects one row, as with a
 * `batch`, so it looks them up one by one, however small its statistics say the table is.
 */
export function foundRows(query: string): string {
  return `(select * from unnest(array(${query})) as found(ctid) limit (select null::bigint))`;
}
