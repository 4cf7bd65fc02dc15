/** Index: the primary key. */
export const READ_JOURNAL = `
select position, kind, type, name, count, attempt, value, due_at, event, parent, at
from perdure_journal
where ref = ? and run = ?
order by position`;
