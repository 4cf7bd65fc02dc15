/** Index: the primary key. */
export const READ_PAST_RUNS = `
select run, status, output, error, rollback, started_at, finished_at from perdure_past_run where ref = ?1 and run > ?2 order by run limit ?3`;
