/** For whoever still has the run; one that is there was sent before. Index: the primary key. */
export const WRITE_CHUNK = `
insert into perdure_stream_chunk (ref, stream, number, run, data) values (?, ?, ?, ?, ?)
on conflict (ref, stream, number) do nothing`;
