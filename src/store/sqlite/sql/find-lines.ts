/** Lines of one namespace that somebody should look at, those first that have waited longest. Index: perdure_line_due. */
export const FIND_LINES = `
select kind, key, namespace, name, available_at from perdure_line
where namespace = ? and available_at <= ? and name in (select value from json_each(?))
order by available_at
limit ?`;
