import { RECORD } from "./instance-record.ts";

/** Index: perdure_instance_id. */
export const RESTART_INSTANCE = `
update perdure_instance set
  run = run + 1, class = 1, available_at = ?, lock = null, recoveries = 0, recovered_position = 0, wakes = wakes + 1, paused = 0,
  outcome = null, output = null, error = null, started_at = null, finished_at = null
where namespace = ? and name = ? and id = ?
returning ${RECORD}`;
