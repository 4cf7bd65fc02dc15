import type { SchemaPrefix, Statement } from "./statement.ts";

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
