/** Extends a lease, at the revision of its owner only. Index: the primary key. */
export const RENEW_SUBJECT = `
update perdure_subject set available_at = ?
where profile = ? and dispatcher_id = ? and subject_key = ? and revision = ? and lease_owner is not null`;
