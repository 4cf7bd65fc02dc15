/** Tables whose rows belong to instances, by `ref`, and the rest of their primary keys. */
const BELONGINGS = {
  perdure_journal: "run, position",
  perdure_event: "run, id",
  perdure_past_run: "run",
  perdure_stream_chunk: "stream, number",
};

/** So many rows, at most, of what a deleted instance has left in one table. Index: the table's primary key. */
export const SWEEP_BELONGINGS = Object.entries(BELONGINGS).map(
  ([table, key]) =>
    `delete from ${table} where ref = ?1 and (${key}) in (select ${key} from ${table} where ref = ?1 limit ?2)`,
);
