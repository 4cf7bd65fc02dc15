import { RECORD } from "./hook-record.ts";

/** Index: the primary key. */
export const GET_HOOK = `select ${RECORD} from perdure_hook where namespace = ? and id = ?`;
