import type { SchemaPrefix, Statement } from "./statement.ts";

/** Index: past_run_pkey. */
export function readPastRuns(schema: SchemaPrefix): Statement {
  return {
    name: "read_past_runs",
    text: `
select past.run, past.status, past.output::text as output, past.error::text as error, past.rollback::text as rollback, past.started_at, past.finished_at
from ${schema}past_run as past where past.ref = $1 and past.run > $2::int order by past.run limit $3::bigint`,
  };
}
