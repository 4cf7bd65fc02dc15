import { SCHEDULE_KEY } from "./schedule-key.ts";

/** Index: the primary key. */
export const RETIRE_SCHEDULE = `delete from perdure_schedule where ${SCHEDULE_KEY} and confirmed_at < ?`;
