/** Due at once, for anybody. What was recovered stays in the lane of its kind. Index: the primary key. */
export const RELEASE_INSTANCE = `
update perdure_instance set
  lock = null, class = case when recoveries > 0 then 2 else 0 end, available_at = case when paused then null else ? end
where ref = ?`;
