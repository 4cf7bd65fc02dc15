/** Events of a run after a sequence: they lie together, but not in their order. Index: the primary key. */
export const READ_EVENTS = `
select id, sequence, type, payload, at from perdure_event where ref = ? and run = ? and sequence > ? order by sequence limit ?`;
