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
