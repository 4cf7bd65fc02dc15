/** Somebody should look at a line at this time, unless it is blocked. Index: the primary key. */
export const JOIN_LINE = `
insert into perdure_line (kind, key, namespace, name, available_at) values (?, ?, ?, ?, ?)
on conflict (kind, key) do update set available_at = min(coalesce(available_at, excluded.available_at), excluded.available_at)
where not blocked`;
