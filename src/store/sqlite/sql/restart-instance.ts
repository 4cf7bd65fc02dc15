import { FRESH_CLASS, freshTime } from "./fresh-place.ts";
import { RECORD } from "./instance-record.ts";

/** If its status is one of those that are asked for. It keeps its params, unless there are new ones. Index: perdure_instance_id. */
export const RESTART_INSTANCE = `
update perdure_instance set
  run = run + 1, class = ${FRESH_CLASS}, available_at = ${freshTime("?1")}, lock = null, recoveries = 0, recovered_position = 0,
  wakes = wakes + 1, paused = 0, outcome = null, output = null, error = null, rolling_back = null, rollback = null,
  started_at = null, finished_at = null, purge_at = null, params = coalesce(?6, params)
where namespace = ?2 and name = ?3 and id = ?4 and (?5 is null or status in (select value from json_each(?5)))
returning ${RECORD}`;
