import { SCHEDULE_KEY } from "./schedule-key.ts";

/** Index: the primary key. */
export const CONFIRM_SCHEDULE = `update perdure_schedule set confirmed_at = ? where ${SCHEDULE_KEY}`;
