/** Extends a lease for its owner only. Index: the primary key. */
export const RENEW_HOOK = `update perdure_hook set available_at = ? where namespace = ? and id = ? and lock = ?`;

/** Who holds leases. Index: perdure_hook_due, its leased lanes. */
export const LEASE_TOKENS = `
select distinct lock from perdure_hook indexed by perdure_hook_due
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null and lock is not null`;

/** Ends the leases of owners that are known to be gone. Index: perdure_hook_due, its leased lanes. */
export const EXPIRE_LEASES = `
update perdure_hook indexed by perdure_hook_due set available_at = ?
where namespace in (select value from json_each(?)) and class = 2 and available_at is not null
  and lock in (select value from json_each(?))`;

/**
 * When the earliest row of these lanes is due. The names are one list for all lanes, so that it is made once, and not for each
 * row. Index: perdure_hook_due gives the first entry of each lane.
 */
export const NEXT_HOOK_WAKE = `
select min(earliest) as available_at from (
  select (
    select hook.available_at from perdure_hook as hook
    where hook.namespace = lane.value ->> 'namespace' and hook.class = lane.value ->> 'class' and hook.available_at is not null
      and (+hook.namespace, hook.name) in (
        select scope.value ->> 'namespace', name.value from json_each(?1) as scope, json_each(scope.value, '$.names') as name
      )
    order by hook.available_at
    limit 1
  ) as earliest
  from json_each(?1) as lane
)`;
