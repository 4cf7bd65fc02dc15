import type { InstanceLease } from "../instances/instance-records.ts";
import type { StreamChunk, StreamRange } from "../streams/stream-records.ts";
import type { StreamStatements } from "../streams/stream-statements.ts";
import { readChunk, wipeRuns, wipeStreams, writeChunk } from "./sql/streams.ts";
import { PostgresStatements } from "./statements.ts";

export class PostgresStreamStatements extends PostgresStatements implements StreamStatements {
  async write({ ref, run, lock }: InstanceLease, { stream, number, data }: StreamChunk): Promise<boolean> {
    const { rows } = await this.run(writeChunk, [ref, stream, number, run, lock, data]);
    return rows[0]?.held === true;
  }

  async read(ref: string, stream: string, number: number): Promise<Uint8Array | null> {
    const { rows } = await this.run(readChunk, [ref, stream, number]);
    return rows[0] === undefined ? null : new Uint8Array(rows[0].data as Uint8Array);
  }

  async wipe({ ref, from, below, except, lease }: StreamRange): Promise<void> {
    await this.run(wipeStreams, [ref, from, below, except, lease?.lock ?? null, lease?.run ?? null]);
  }

  async wipeRuns(ref: string, before: number): Promise<void> {
    await this.run(wipeRuns, [ref, before]);
  }
}
