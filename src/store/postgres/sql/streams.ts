import { WorkClass } from "../../queue/work-class.ts";
import type { SchemaPrefix, Statement } from "./statement.ts";

/** Writes a chunk for the owner of the run. A chunk that exists was sent before. Indexes: instance_pkey, stream_chunk_pkey. */
export function writeChunk(schema: SchemaPrefix): Statement {
  return {
    name: "write_chunk",
    text: `
with held as materialized (
  select instance.ref from ${schema}instance as instance
  where instance.ref = $1 and instance.run = $4 and instance.lock = $5 and instance.class = ${WorkClass.leased}
),
written as (
  insert into ${schema}stream_chunk (ref, stream, number, run, data)
  select held.ref, $2, $3::int, $4::int, $6::bytea from held
  on conflict (ref, stream, number) do nothing
)
select count(*) > 0 as held from held`,
  };
}

/** One chunk. Index: stream_chunk_pkey. */
export function readChunk(schema: SchemaPrefix): Statement {
  return {
    name: "read_chunk",
    text: `
select chunk.data from ${schema}stream_chunk as chunk where chunk.ref = $1 and chunk.stream = $2 and chunk.number = $3`,
  };
}

/**
 * Deletes the streams whose names are in a range, except one; if a token is given, only while its owner has the run.
 * Indexes: stream_chunk_pkey, instance_pkey.
 */
export function wipeStreams(schema: SchemaPrefix): Statement {
  return {
    name: "wipe_streams",
    text: `
delete from ${schema}stream_chunk as chunk
where chunk.ref = $1 and chunk.stream >= $2 and chunk.stream < $3 and chunk.stream is distinct from $4::text
  and ($5::text is null or exists (
    select from ${schema}instance as instance
    where instance.ref = $1 and instance.run = $6::int and instance.lock = $5::text and instance.class = ${WorkClass.leased}
  ))`,
  };
}

/** Deletes the chunks of earlier runs. Index: stream_chunk_pkey. */
export function wipeRuns(schema: SchemaPrefix): Statement {
  return {
    name: "wipe_runs",
    text: `
delete from ${schema}stream_chunk as chunk where chunk.ref = $1 and chunk.run < $2`,
  };
}
