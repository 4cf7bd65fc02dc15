/** What a step told while it ran. Index: the primary key. */
export const DROP_PROGRESS = `
update perdure_journal set value = null
where ref = ? and run = ? and position >= ? and kind = 'progress' and type = ? and name = ? and count = ? and parent is ?`;
