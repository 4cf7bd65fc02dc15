/** Writes how often a hook was tried, and whether its attempt begins, for its owner only. Index: the primary key. */
export const COUNT_HOOK = `
update perdure_hook set attempts = ?, recoveries = ?, confirmed = ? where namespace = ? and id = ? and lock = ?`;
