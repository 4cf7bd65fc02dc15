/** Index: the primary key. */
export const READ_CHUNK = `
select data from perdure_stream_chunk where ref = ? and stream = ? and number = ?`;
