/** One bounded batch of kept hooks whose time is over. Index: perdure_hook_completed. */
export const PURGE_HOOKS = `
delete from perdure_hook where namespace = ?1 and id in (
  select id from perdure_hook
  where namespace = ?1 and available_at is null and error is null and purge_at <= ?2
  order by purge_at
  limit ?3
)`;
