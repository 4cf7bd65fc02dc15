/** The oldest that are due, but for those that were found already. Index: perdure_subject_due; what rests is never read. */
export const FIND_DUE_SUBJECTS = `
select subject_key, available_at from perdure_subject
where profile = ? and dispatcher_id = ? and available_at <= ? and subject_key not in (select value from json_each(?))
order by available_at, subject_key
limit ?`;
