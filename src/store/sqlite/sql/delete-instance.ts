import { RECORD } from "./instance-record.ts";

/** Index: perdure_instance_id. */
export const DELETE_INSTANCE = `
delete from perdure_instance where namespace = ? and name = ? and id = ? returning ${RECORD}`;
