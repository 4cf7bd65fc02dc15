/** Streams whose names begin alike, but for one. Index: the primary key. */
export const WIPE_STREAMS = `
delete from perdure_stream_chunk where ref = ? and stream >= ? and stream < ? and stream is not ?`;

/** What earlier runs have left behind. Index: the primary key. */
export const WIPE_RUNS = `
delete from perdure_stream_chunk where ref = ? and run < ?`;
