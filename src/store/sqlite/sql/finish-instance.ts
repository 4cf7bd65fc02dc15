/** Index: the primary key. */
export const FINISH_INSTANCE = `
update perdure_instance set
  class = 0, available_at = null, recoveries = 0, outcome = ?1, output = ?2, error = ?3, rollback = ?4, rolling_back = null,
  finished_at = ?5, purge_at = ?5 + case ?1 when 'complete' then success_retention else error_retention end
where ref = ?6`;
