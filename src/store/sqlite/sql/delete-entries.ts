/** Takes back entries of a commit that turned out to be superseded. Index: the primary key. */
export const DELETE_ENTRIES = `
delete from perdure_journal where ref = ? and run = ? and position >= ? and position < ?`;
