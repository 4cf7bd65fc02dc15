import type { SchemaPrefix, Statement } from "./statement.ts";

/** For whoever still has the run; one that is there was sent before. Indexes: instance_pkey, stream_chunk_pkey. */
export function writeChunk(schema: SchemaPrefix): Statement {
  return {
    name: "write_chunk",
    text: `
with held as materialized (
  select instance.ref from ${schema}instance as instance
  where instance.ref = $1 and instance.run = $4 and instance.lock = $5 and instance.class = 2
),
written as (
  insert into ${schema}stream_chunk (ref, stream, number, run, data)
  select held.ref, $2, $3::int, $4::int, $6::bytea from held
  on conflict (ref, stream, number) do nothing
)
select count(*) > 0 as held from held`,
  };
}

/** Index: stream_chunk_pkey. */
export function readChunk(schema: SchemaPrefix): Statement {
  return {
    name: "read_chunk",
    text: `
select chunk.data from ${schema}stream_chunk as chunk where chunk.ref = $1 and chunk.stream = $2 and chunk.number = $3`,
  };
}

/** Streams whose names begin alike, but for one. Index: stream_chunk_pkey. */
export function wipeStreams(schema: SchemaPrefix): Statement {
  return {
    name: "wipe_streams",
    text: `
delete from ${schema}stream_chunk as chunk
where chunk.ref = $1 and chunk.stream >= $2 and chunk.stream < $3 and chunk.stream is distinct from $4::text`,
  };
}

/** What earlier runs have left behind. Index: stream_chunk_pkey. */
export function wipeRuns(schema: SchemaPrefix): Statement {
  return {
    name: "wipe_runs",
    text: `
delete from ${schema}stream_chunk as chunk where chunk.ref = $1 and chunk.run < $2`,
  };
}
