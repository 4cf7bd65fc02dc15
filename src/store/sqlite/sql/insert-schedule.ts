/** A known one is left alone; one whose name is paused, with other times, is paused, too. Index: the primary key. */
export const INSERT_SCHEDULE = `
insert into perdure_schedule (namespace, workflow, name, cron, timezone, due_at, confirmed_at, paused)
select ?1, ?2, ?3, ?4, ?5, case when other.paused then null else ?6 end, ?7, other.paused
from (
  select exists (select 1 from perdure_schedule where namespace = ?1 and workflow = ?2 and name = ?3 and paused) as paused
) as other
where true
on conflict do nothing`;
