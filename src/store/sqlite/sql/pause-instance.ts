import { HELD, RECORD } from "./instance-record.ts";

/** Not due any more, unless somebody has it. Index: perdure_instance_id. */
export const PAUSE_INSTANCE = `
update perdure_instance set paused = 1, available_at = case when ${HELD} then available_at end
where namespace = ? and name = ? and id = ? and outcome is null
returning ${RECORD}`;
