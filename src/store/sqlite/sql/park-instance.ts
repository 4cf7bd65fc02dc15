/** Nobody's until it is due: at once, if something came in that its owner hasn't seen. Index: the primary key. */
export const PARK_INSTANCE = `
update perdure_instance set
  class = 0, available_at = case when paused then null when wakes = ? then ? else ? end, recoveries = 0
where ref = ?`;
