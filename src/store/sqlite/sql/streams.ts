/** For whoever still has the run; one that is there was sent before. Index: the primary key. */
export const WRITE_CHUNK = `
insert into perdure_stream_chunk (ref, stream, number, run, data) values (?, ?, ?, ?, ?)
on conflict (ref, stream, number) do nothing`;

/** Index: the primary key. */
export const READ_CHUNK = `
select data from perdure_stream_chunk where ref = ? and stream = ? and number = ?`;

/** Streams whose names begin alike, but for one. Index: the primary key. */
export const WIPE_STREAMS = `
delete from perdure_stream_chunk where ref = ? and stream >= ? and stream < ? and stream is not ?`;

/** What earlier runs have left behind. Index: the primary key. */
export const WIPE_RUNS = `
delete from perdure_stream_chunk where ref = ? and run < ?`;
