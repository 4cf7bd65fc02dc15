/** Whether there is an instance to purge. Index: perdure_instance_purge. */
export const FIND_PURGE = `select 1 from perdure_instance where namespace = ? and purge_at <= ? limit 1`;
