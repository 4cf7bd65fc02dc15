import { RECORD } from "./instance-record.ts";

/** Index: perdure_instance_id. */
export const GET_INSTANCE = `select ${RECORD} from perdure_instance where namespace = ? and name = ? and id = ?`;
