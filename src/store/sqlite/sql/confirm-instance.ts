/** Writes that its owner begins. Index: the primary key. */
export const CONFIRM_INSTANCE = `update perdure_instance set confirmed = 1 where ref = ? and run = ? and lock = ? and class = 2`;
