import type { SchemaPrefix } from "../sql/statement.ts";

/** What steps give as streams. Chunks are stored as they are: trying to compress them would cost more than it saves. */
export function streams(schema: SchemaPrefix): string {
  return `create table ${schema}stream_chunk (
  number integer not null,
  run integer not null,
  ref text collate "C" not null,
  stream text collate "C" not null,
  data bytea not null,
  constraint stream_chunk_pkey primary key (ref, stream, number)
);
alter table ${schema}stream_chunk alter column data set storage external;
`;
}
