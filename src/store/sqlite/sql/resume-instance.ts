import { linePlace } from "./fresh-place.ts";
import { HELD, RECORD } from "./instance-record.ts";

/**
 * Due at once, unless somebody has it. What was recovered stays in the lane of its kind, and what stood in line goes to its end.
 * Index: perdure_instance_id.
 */
export const RESUME_INSTANCE = `
update perdure_instance set
  paused = 0, wakes = wakes + 1,
  class = case when class in (2, 5, 6) then class else 0 end,
  available_at = case when ${HELD} then available_at when class = 6 then ${linePlace("?1")} else ?1 end
where namespace = ?2 and name = ?3 and id = ?4 and paused and outcome is null
returning ${RECORD}`;
