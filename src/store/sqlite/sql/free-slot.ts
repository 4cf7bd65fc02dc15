/** Somebody should look at a line now, whatever blocked it. Its row is there while anybody holds a slot. Index: the primary key. */
export const FREE_SLOT = `update perdure_line set blocked = 0, available_at = ? where kind = 0 and key = ?`;
