/** What a claim tells of an instance, as it was before. */
export const CLAIMED_COLUMNS = `namespace, name, id, ref, run, class, lock, params, created_at, recoveries, confirmed, wakes, paused, schedule,
  slot_key,
  rolling_back,
  started_at is not null or wakes > 0 as begun,
  available_at as due_at`;
