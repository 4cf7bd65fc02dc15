/** Extends a lease for its owner only. Index: the primary key. */
export const RENEW_HOOK = `update perdure_hook set available_at = ? where namespace = ? and id = ? and lock = ?`;

/** Who holds leases. Index: perdure_hook_due, its leased lanes. */
export const LEASE_TOKENS = `
select distinct lock from perdure_hook
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null and lock is not null`;

/** Ends the leases of owners that are known to be gone. Index: perdure_hook_due, its leased lanes. */
export const EXPIRE_LEASES = `
update perdure_hook set available_at = ?
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null
  and lock in (select value from json_each(?))`;

/** When the earliest row of a lane is due. Index: perdure_hook_due gives its first entry. */
export const NEXT_HOOK_WAKE = `
select available_at from perdure_hook
where namespace = ? and class = ? and available_at is not null and name in (select value from json_each(?))
order by available_at
limit 1`;
