/** The hook that holds a trigger which was written before: that of its id, or of its key. Indexes: the primary key, perdure_hook_key. */
export const FIND_TRIGGERED_HOOK = `
select id, lock, created_at from perdure_hook where namespace = ?1 and id = ?2
union all
select id, lock, created_at from perdure_hook
where namespace = ?1 and name = ?3 and key = ?4 and key is not null and available_at is not null
limit 1`;
