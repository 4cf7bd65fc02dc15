import { RECORD } from "./instance-record.ts";

/** Nothing of this run was ever begun, nor kept from an earlier one. */
const UNTOUCHED = `started_at is null and not exists (
    select 1 from perdure_journal as journal where journal.ref = perdure_instance.ref and journal.run = perdure_instance.run
  )`;

/** Due at once, to be rolled back; where there is nothing to roll back, terminated. Indexes: perdure_instance_id, the journal's primary key. */
export const ROLL_BACK_INSTANCE = `
update perdure_instance set
  rolling_back = iif(${UNTOUCHED}, null, 'terminated'),
  outcome = iif(${UNTOUCHED}, 'terminated', null),
  finished_at = iif(${UNTOUCHED}, ?1, null),
  purge_at = iif(${UNTOUCHED}, ?1 + error_retention, null),
  available_at = iif(${UNTOUCHED}, null, ?1),
  class = iif(${UNTOUCHED} or slot_key is null, 0, 5),
  lock = null, recoveries = 0, paused = 0, wakes = wakes + 1
where namespace = ?2 and name = ?3 and id = ?4 and outcome is null and rolling_back is null
returning ${RECORD}`;
