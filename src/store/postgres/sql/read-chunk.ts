import type { SchemaPrefix, Statement } from "./statement.ts";

/** Index: stream_chunk_pkey. */
export function readChunk(schema: SchemaPrefix): Statement {
  return {
    name: "read_chunk",
    text: `
select chunk.data from ${schema}stream_chunk as chunk where chunk.ref = $1 and chunk.stream = $2 and chunk.number = $3`,
  };
}
