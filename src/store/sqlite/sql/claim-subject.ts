import { RECORD } from "./subject-record.ts";

/** Index: the primary key. */
export const CLAIM_SUBJECT = `
update perdure_subject set
  status = 'leased', lease_owner = ?, available_at = ?, attempts = attempts + 1,
  timeouts = timeouts + case when lease_owner is null then 0 else 1 end, last_started_at = ?, revision = revision + 1, updated_at = ?
where profile = ? and dispatcher_id = ? and subject_key = ?
returning ${RECORD}`;
