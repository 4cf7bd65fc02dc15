/**
 * What waits is due at once, and keeps its turn if it was due already. Who has it, or has yet to begin, will see for himself.
 * Index: the primary key.
 */
export const WAKE_INSTANCE = `
update perdure_instance set
  wakes = wakes + 1, available_at = case when (class in (0, 5) or class = 2 and lock is null) and not paused then min(available_at, ?) else available_at end
where ref = ?`;
