/** Whether a run has an event. Index: the primary key. */
export const FIND_EVENT = `select 1 from perdure_event where ref = ? and run = ? and id = ?`;
