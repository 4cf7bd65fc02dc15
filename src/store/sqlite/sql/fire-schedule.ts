import { SCHEDULE_KEY } from "./schedule-key.ts";

/** Only from the time that the sender knows, and not before it has come. Index: the primary key. */
export const FIRE_SCHEDULE = `
update perdure_schedule set due_at = ?, last_at = ?, confirmed_at = ?
where ${SCHEDULE_KEY} and due_at = ? and due_at <= ?`;
