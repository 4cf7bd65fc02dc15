/** When the earliest is due. Index: perdure_subject_due gives the first entry. */
export const NEXT_SUBJECT_WAKE = `
select available_at from perdure_subject
where profile = ? and dispatcher_id = ? and available_at is not null
order by available_at
limit 1`;
