/** Index: the primary key. */
export const DELETE_LABEL = `
delete from perdure_label where namespace = ? and name = ? and key = ? and value = ? and ref = ?`;
