/** Starts that don't count any more. Index: the primary key. */
export const FORGET_STARTS = `delete from perdure_start where key = ? and at <= ?`;

/** Those that count. Index: the primary key. */
export const COUNT_STARTS = `select count(*) as starts, max(at) as latest from perdure_start where key = ?`;

/** The last but so many. Index: the primary key. */
export const FIND_START = `select at from perdure_start where key = ? order by at desc limit 1 offset ?`;

/** Index: the primary key. */
export const INSERT_START = `insert into perdure_start (key, at, ref, run) values (?, ?, ?, ?)`;
