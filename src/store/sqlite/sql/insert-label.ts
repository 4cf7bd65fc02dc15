/** Index: the primary key. */
export const INSERT_LABEL = `insert into perdure_label (namespace, name, key, value, ref) values (?, ?, ?, ?, ?)`;
