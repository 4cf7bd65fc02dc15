/** When to look at a line of one namespace. Index: perdure_line_due gives the first entry. */
export const NEXT_LINE = `
select available_at from perdure_line
where namespace = ? and available_at is not null and name in (select value from json_each(?))
order by available_at
limit 1`;
