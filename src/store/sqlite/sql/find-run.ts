/** What a run's owner must know. Index: the primary key. */
export const FIND_RUN = `select class, lock, wakes, paused, slot_key from perdure_instance where ref = ? and run = ?`;
