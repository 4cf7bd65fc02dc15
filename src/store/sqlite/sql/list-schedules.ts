/** Index: the primary key. */
export const LIST_SCHEDULES = `
select namespace, workflow, name, cron, timezone, due_at, last_at, paused, confirmed_at from perdure_schedule
where namespace in (select value from json_each(?))
order by namespace, workflow, name, cron, timezone`;
