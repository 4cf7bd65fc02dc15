import { freshClass, freshTime } from "./fresh-place.ts";
import { RECORD } from "./instance-record.ts";

const KEYS = { slotKey: "iif(?7, ?8, slot_key)", rateKey: "iif(?7, ?9, rate_key)" };

/**
 * If its status is one of those that are asked for. It keeps its params and what it shares by them, unless there are new ones.
 * Index: perdure_instance_id.
 */
export const RESTART_INSTANCE = `
update perdure_instance set
  run = run + 1, slot_key = ${KEYS.slotKey}, rate_key = ${KEYS.rateKey},
  class = ${freshClass(KEYS)}, available_at = ${freshTime("?1", KEYS)}, lock = null, recoveries = 0, recovered_position = 0,
  wakes = wakes + 1, paused = 0, outcome = null, output = null, error = null, rolling_back = null, rollback = null,
  started_at = null, finished_at = null, purge_at = null, params = coalesce(?6, params)
where namespace = ?2 and name = ?3 and id = ?4 and (?5 is null or status in (select value from json_each(?5)))
returning ${RECORD}`;
