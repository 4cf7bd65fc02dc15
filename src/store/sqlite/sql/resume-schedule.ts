import { SCHEDULE_KEY } from "./schedule-key.ts";

/** Index: the primary key. */
export const RESUME_SCHEDULE = `update perdure_schedule set paused = 0, due_at = ? where ${SCHEDULE_KEY} and paused`;
