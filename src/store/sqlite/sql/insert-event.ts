/** An event that the run has is left alone. Index: the primary key. */
export const INSERT_EVENT = `
insert into perdure_event (ref, run, id, sequence, type, payload, at)
values (?, ?, ?, ?, ?, ?, ?)
on conflict (ref, run, id) do nothing`;
