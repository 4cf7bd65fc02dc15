/** What every trigger writes. */
export const COLUMNS = `namespace, id, name, payload, retries, trace, created_at, class, available_at, lock, attempts, last_attempt_at,
    own_id`;

/** `dueAt` is when a trigger is due that isn't born claimed. */
export function values(dueAt: string): string {
  return `item.namespace, item.id, item.name, item.payload::json, item.retries::json, item.trace::json, clock.now,
    case when item.lock is null then 1 else 2 end,
    case when item.lock is null then ${dueAt} else clock.now + item.lease_ms end,
    item.lock,
    case when item.lock is null then 0 else 1 end,
    case when item.lock is null then null else clock.now end,
    item.own_id`;
}

export const VALUES = values("greatest(coalesce(item.process_at, clock.now), clock.now)");
