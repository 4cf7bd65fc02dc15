/** What every trigger writes. */
export const COLUMNS = `namespace, id, name, payload, retries, trace, created_at, class, available_at, lock, attempts, last_attempt_at,
    own_id`;

export const VALUES = `item.namespace, item.id, item.name, item.payload::json, item.retries::json, item.trace::json, clock.now,
    case when item.lock is null then 1 else 2 end,
    case when item.lock is null then greatest(coalesce(item.process_at, clock.now), clock.now) else clock.now + item.lease_ms end,
    item.lock,
    case when item.lock is null then 0 else 1 end,
    case when item.lock is null then null else clock.now end,
    item.own_id`;
