/** Only if nobody has had it since it was parked, or if it was reacquired by this very call before. Index: the primary key. */
export const REACQUIRE_INSTANCE = `
update perdure_instance set lock = ?1, class = 2, available_at = ?2
where ref = ?3 and run = ?4
  and (lock = ?5 and class <> 2 and outcome is null and not paused or lock = ?1 and class = 2)
returning ref, run, lock, wakes, paused`;
