/** An instance that is to be waited for. Index: perdure_instance_id. */
export const FIND_AWAITED = `
select ref, run, status, output, error, waiters from perdure_instance where namespace = ? and name = ? and id = ?`;

/** Stores the waiters of an instance; null when they were told. Index: the primary key. */
export const WRITE_WAITERS = `update perdure_instance set waiters = ? where ref = ?`;

/** A run that waits, if it is the present run of its instance and isn't finished. Index: the primary key. */
export const FIND_WAITER = `
select wakes + 1 as sequence, class, paused, namespace, name, slot_key, rate_key from perdure_instance
where ref = ? and run = ? and outcome is null`;
