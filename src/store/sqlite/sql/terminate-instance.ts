import { RECORD } from "./instance-record.ts";

/** A rollback that is under way ends where it is. */
const STOPPED_ROLLBACK = `iif(rolling_back is null, null, '{"outcome":"failed"}')`;

/** Index: perdure_instance_id. */
export const TERMINATE_INSTANCE = `
update perdure_instance set
  outcome = 'terminated', rollback = ${STOPPED_ROLLBACK}, rolling_back = null, finished_at = ?1, purge_at = ?1 + error_retention,
  lock = null, class = 0, available_at = null, paused = 0, wakes = wakes + 1
where namespace = ?2 and name = ?3 and id = ?4 and outcome is null
returning ${RECORD}`;
