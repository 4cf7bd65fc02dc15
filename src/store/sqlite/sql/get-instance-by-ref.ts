import { RECORD } from "./instance-record.ts";

/** Index: the primary key. */
export const GET_INSTANCE_BY_REF = `select ${RECORD} from perdure_instance where ref = ?`;
