/** What steps give as streams. Rows are large, so the table has rowids. */
export const STREAMS = `create table perdure_stream_chunk (
  ref text not null,
  stream text not null,
  number integer not null,
  run integer not null,
  data blob not null,
  primary key (ref, stream, number)
) strict;
`;
