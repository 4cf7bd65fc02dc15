import { RESULT } from "./settle-result.ts";

/** Who owns a row, or what it became. Index: the primary key. */
export const FIND_SETTLED_HOOK = `select lock, ${RESULT} as result from perdure_hook where namespace = ? and id = ?`;
