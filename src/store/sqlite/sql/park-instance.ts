/**
 * Nobody's until it is due: at once, if something came in that its owner hasn't seen. What has a slot gives it back, and waits in
 * line. Index: the primary key.
 */
export const PARK_INSTANCE = `
update perdure_instance set
  class = case when slot_key is null then 0 else 5 end,
  available_at = case when paused then null when wakes = ? then ? else ? end, recoveries = 0
where ref = ?`;
