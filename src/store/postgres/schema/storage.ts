/**
 * A queue's rows come and go: dead versions are removed early and without pauses. A claim writes a second version of a row, so
 * pages are left with room for it. Pages are never given back to the system: that locks the table, which will need them again.
 */
export const QUEUE_STORAGE = `with (
  fillfactor = 70,
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_insert_scale_factor = 0.2,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
)`;

/** Rows are appended, rarely changed, and deleted together. */
export const JOURNAL_STORAGE = `with (
  vacuum_truncate = false,
  autovacuum_vacuum_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0
)`;

/**
 * Gives a new table some empty pages. A table of a few pages looks cheap to read from end to end, and a plan that does so is
 * kept when the table has a million rows. `row` has a value per column; `number` counts the rows.
 */
export function reserveSpace(table: string, rows: number, row: Readonly<Record<string, string>>): string[] {
  const columns = Object.keys(row).join(", ");
  const values = Object.values(row).join(", ");
  return [
    `insert into ${table} (${columns}) select ${values} from generate_series(1, ${rows}) as number`,
    `delete from ${table}`,
  ];
}
