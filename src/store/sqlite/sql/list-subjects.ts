import { RECORD } from "./subject-record.ts";

/** One page in the order of keys. Index: the primary key, which the other filters don't narrow down. */
export const LIST_SUBJECTS = `
select ${RECORD} from perdure_subject
where profile = ?1 and dispatcher_id = ?2
  and subject_key > ?3
  and (?4 is null or status = ?4)
  and (?5 is null or group_key = ?5)
order by subject_key
limit ?6`;
