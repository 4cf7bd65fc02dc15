/** All that was found. Index: the primary key. */
export const CLAIM_INSTANCES = `
update perdure_instance set lock = ?, class = 2, available_at = ?, confirmed = 0, started_at = coalesce(started_at, ?)
where ref in (select value from json_each(?))`;
