/** Who holds leases. Index: perdure_hook_due, its leased lanes. */
export const LEASE_TOKENS = `
select distinct lock from perdure_hook indexed by perdure_hook_due
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null and lock is not null`;
