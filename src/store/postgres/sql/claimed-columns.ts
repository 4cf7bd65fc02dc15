/** What a claim tells of an instance. `taken` is how it was before. */
export const CLAIMED_COLUMNS = `instance.namespace, instance.name, instance.id, instance.ref, instance.run, instance.lock,
  instance.params::text as params, instance.created_at, instance.recoveries, instance.wakes, instance.paused,
  instance.schedule::text as schedule, instance.slot_key, instance.rolling_back,
  taken.previously_started_at is not null or instance.wakes > 0 as begun,
  taken.due_at, clock.now as claimed_at`;
