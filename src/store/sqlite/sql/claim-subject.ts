import { RECORD } from "./subject-record.ts";

/** Index: the primary key. */
export const CLAIM_SUBJECT = `
update perdure_subject set
  status = 'leased', lease_owner = ?, available_at = ?, attempts = attempts + 1, revision = revision + 1, updated_at = ?
where profile = ? and dispatcher_id = ? and subject_key = ?
returning ${RECORD}`;
