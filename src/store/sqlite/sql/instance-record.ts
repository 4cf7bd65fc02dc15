/** Somebody has it. A row of class 2 without an owner was given back after a recovery, and is waiting to be taken over. */
export const HELD = "class = 2 and lock is not null";

/** An instance as people see it. */
export const RECORD = `namespace, name, id, ref, run, status, params, output, error, rollback, labels, priority, schedule,
  created_at, started_at, finished_at, available_at`;
