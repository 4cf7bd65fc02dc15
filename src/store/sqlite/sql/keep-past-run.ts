import { STATUS } from "./instance-record.ts";

/** How a run stands that is about to be restarted. Index: perdure_instance_id. */
export const KEEP_PAST_RUN = `
insert into perdure_past_run (ref, run, status, output, error, started_at, finished_at)
select ref, run, ${STATUS}, output, error, started_at, finished_at
from perdure_instance
where namespace = ? and name = ? and id = ?`;
