/** Index: the primary key. */
export const PAUSE_SCHEDULES = `
update perdure_schedule set paused = 1, due_at = null
where namespace = ?1 and workflow = ?2 and (?3 is null or name = ?3)`;
