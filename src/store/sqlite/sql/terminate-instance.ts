import { RECORD } from "./instance-record.ts";

/** Index: perdure_instance_id. */
export const TERMINATE_INSTANCE = `
update perdure_instance set
  outcome = 'terminated', finished_at = ?, lock = null, class = 0, available_at = null, paused = 0, wakes = wakes + 1
where namespace = ? and name = ? and id = ? and outcome is null
returning ${RECORD}`;
