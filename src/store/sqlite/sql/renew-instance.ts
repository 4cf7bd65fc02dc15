/** Extends a lease for its owner only. Index: the primary key. */
export const RENEW_INSTANCE = `
update perdure_instance set available_at = ?
where ref = ? and run = ? and lock = ? and class = 2
returning ref, run, lock, wakes, paused`;
