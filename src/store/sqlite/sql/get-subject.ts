import { RECORD } from "./subject-record.ts";

/** Index: the primary key. */
export const GET_SUBJECT = `select ${RECORD} from perdure_subject where profile = ? and dispatcher_id = ? and subject_key = ?`;
