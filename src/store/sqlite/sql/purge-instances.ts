/** One bounded batch of instances that were kept for long enough. Index: perdure_instance_purge. */
export const PURGE_INSTANCES = `
delete from perdure_instance where ref in (
  select ref from perdure_instance where namespace = ?1 and purge_at <= ?2 order by purge_at limit ?3
)
returning namespace, name, ref, labels`;
