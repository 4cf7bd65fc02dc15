/** A table that has rows of instances, and its columns that can be written. */
export interface CopiedTable {
  readonly name: string;
  readonly columns: readonly string[];
}

/** How an engine writes what the copies need. */
export interface CopyDialect {
  /** A table expression `series(number)` of the numbers from the first parameter to the second. */
  readonly series: string;
  /** The number as text of 16 digits. */
  readonly digits: string;
  /** The third and fourth parameter: the ref of the original, and how many copies it gets in all. */
  readonly ref: string;
  readonly count: string;
}

/**
 * Copies the rows of one instance, whatever columns the schema has: the copies have refs, ids and times of their own. They are
 * older than the original, in the order of their numbers.
 */
export function copyInstanceSql({ name, columns }: CopiedTable, dialect: CopyDialect): string {
  const values = columns.map((column) => copiedValue(column, columns, dialect));
  return `insert into ${name} (${columns.join(", ")})
select ${values.join(", ")} from ${dialect.series} cross join ${name} as original
where original.ref = ${dialect.ref} order by series.number`;
}

const TIMES = ["created_at", "started_at", "finished_at", "available_at", "purge_at"];

export function hasTimes(columns: readonly string[]): boolean {
  return columns.some((column) => TIMES.includes(column));
}

function copiedValue(column: string, columns: readonly string[], { digits, count }: CopyDialect): string {
  const isId = column === "id" && columns.includes("namespace");
  if (column === "ref" || isId) return `substr(original.ref, 1, 10) || ${digits}`;
  if (TIMES.includes(column)) return `original.${column} - (${count} - series.number)`;
  return `original.${column}`;
}
