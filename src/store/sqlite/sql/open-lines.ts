/** Lines may have other limits than when they were blocked. Index: perdure_line_due is no help: there are as many as keys in use. */
export const OPEN_LINES = `
update perdure_line set blocked = 0, available_at = ?
where namespace in (select value from json_each(?)) and (blocked or available_at is null)`;

export const FIND_ANY_LINE = `
select 1 from perdure_line where namespace in (select value from json_each(?)) limit 1`;
