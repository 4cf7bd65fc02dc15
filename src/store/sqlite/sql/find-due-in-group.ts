/** The oldest of one group that are due. Index: perdure_subject_group_due. */
export const FIND_DUE_IN_GROUP = `
select subject_key, available_at from perdure_subject
where profile = ? and dispatcher_id = ? and group_key = ? and available_at <= ?
order by available_at, subject_key
limit ?`;
