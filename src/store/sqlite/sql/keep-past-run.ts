/** How a run stands that is about to be restarted. Index: perdure_instance_id. */
export const KEEP_PAST_RUN = `
insert into perdure_past_run (ref, run, status, output, error, rollback, started_at, finished_at)
select ref, run, status, output, error, rollback, started_at, finished_at
from perdure_instance
where namespace = ?1 and name = ?2 and id = ?3 and (?4 is null or status in (select value from json_each(?4)))`;
