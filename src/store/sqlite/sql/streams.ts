/** Writes a chunk. One that exists was sent before, and stays. Index: the primary key. */
export const WRITE_CHUNK = `
insert into perdure_stream_chunk (ref, stream, number, run, data) values (?, ?, ?, ?, ?)
on conflict (ref, stream, number) do nothing`;

/** One chunk. Index: the primary key. */
export const READ_CHUNK = `
select data from perdure_stream_chunk where ref = ? and stream = ? and number = ?`;

/** Deletes the streams in a range of names, except one. Index: the primary key. */
export const WIPE_STREAMS = `
delete from perdure_stream_chunk where ref = ? and stream >= ? and stream < ? and stream is not ?`;

/** Deletes the streams of earlier runs. Index: the primary key. */
export const WIPE_RUNS = `
delete from perdure_stream_chunk where ref = ? and run < ?`;
