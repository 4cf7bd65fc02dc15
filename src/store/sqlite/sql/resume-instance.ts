import { HELD, RECORD } from "./instance-record.ts";

/** Due at once, unless somebody has it. What was recovered stays in the lane of its kind. Index: perdure_instance_id. */
export const RESUME_INSTANCE = `
update perdure_instance set
  paused = 0, wakes = wakes + 1,
  class = case when class = 2 then 2 else 0 end,
  available_at = case when ${HELD} then available_at else ? end
where namespace = ? and name = ? and id = ? and paused and outcome is null
returning ${RECORD}`;
