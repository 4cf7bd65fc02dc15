/** A known one is left alone. Due at once, unless it says when. Index: the primary key. */
export const INSERT_SUBJECT = `
insert into perdure_subject (profile, dispatcher_id, subject_key, group_key, cursor, meta, due_at, available_at, created_at, updated_at)
values (?1, ?2, ?3, nullif(?4, ''), coalesce(?5, 'null'), coalesce(?6, 'null'), coalesce(?7, ?8), coalesce(?7, ?8), ?8, ?8)
on conflict do nothing`;
