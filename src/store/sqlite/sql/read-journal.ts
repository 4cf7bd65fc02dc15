/** Entries of a run after a position. Index: the primary key. */
export const READ_JOURNAL = `
select position, kind, type, name, count, attempt, case when kind <> 'progress' then value end as value, due_at, event, parent, at,
  began
from perdure_journal
where ref = ? and run = ? and position > ? and (kind <> 'progress' or value is not null)
order by position limit ?`;
