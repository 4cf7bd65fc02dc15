/** Only if nobody has had it since it was parked. Index: the primary key. */
export const REACQUIRE_INSTANCE = `
update perdure_instance set lock = ?, class = 2, available_at = ?
where ref = ? and run = ? and lock = ? and class <> 2 and outcome is null and not paused
returning ref, run, lock, wakes, paused`;
