/** Ends the leases of owners that are known to be gone. Index: perdure_hook_due, its leased lanes. */
export const EXPIRE_LEASES = `
update perdure_hook indexed by perdure_hook_due set available_at = ?
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null
  and lock in (select value from json_each(?))`;
