/** All that somebody has are due at once: for an object that starts, and was the only one to have them. Index: perdure_subject_due. */
export const FREE_SUBJECTS = `
update perdure_subject set available_at = min(available_at, ?1) where lease_owner is not null and available_at is not null`;
