/** What every trigger writes. */
export const COLUMNS = `namespace, id, name, payload, retries, trace, created_at, class, available_at, lock, attempts, last_attempt_at,
  triggered_at, key, triggers, last_trigger, own_id`;
