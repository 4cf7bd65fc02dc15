/** What an instance leaves behind. Index: each table's primary key. */
export const DELETE_BELONGINGS = ["perdure_journal", "perdure_event", "perdure_past_run", "perdure_stream_chunk"].map(
  (table) => `delete from ${table} where ref = ?`,
);
