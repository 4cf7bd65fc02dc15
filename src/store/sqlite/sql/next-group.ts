/** The group that comes after another one. However many subjects it has, one entry is read. Index: perdure_subject_group_due. */
export const NEXT_GROUP = `
select group_key from perdure_subject
where profile = ? and dispatcher_id = ? and group_key > ? and available_at is not null
order by group_key
limit 1`;
