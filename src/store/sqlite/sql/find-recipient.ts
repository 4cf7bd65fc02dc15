/** Who gets an event, and its number there. Index: perdure_instance_id. */
export const FIND_RECIPIENT = `
select ref, run, outcome, wakes + 1 as sequence, class, paused from perdure_instance where namespace = ? and name = ? and id = ?`;
