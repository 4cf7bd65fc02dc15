/** Due at once or later, for anybody. What was recovered stays in the lane of its kind, with its slot. Index: the primary key. */
export const RELEASE_INSTANCE = `
update perdure_instance set
  lock = null, class = case when recoveries > 0 then 2 when slot_key is null then 0 else 5 end,
  available_at = case when paused then null else ? end
where ref = ?`;
