/** Index: the primary key; a taken position is left alone. */
export const INSERT_ENTRY = `
insert into perdure_journal (ref, run, position, kind, type, name, count, attempt, value, due_at, event, parent, at, began)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (ref, run, position) do nothing`;
