import type { Engine } from "../engine.ts";
import { GroupCommit } from "../group-commit.ts";
import type { InstanceLease } from "../instances/instance-records.ts";
import type { StreamChunk } from "./stream-records.ts";
import type { StreamStatements } from "./stream-statements.ts";

/** Streams of steps in the database. Chunks may be sent again: they carry their own names and numbers. */
export class StoredStreams {
  readonly statements: StreamStatements;
  readonly #writes: GroupCommit<{ lease: InstanceLease; chunk: StreamChunk }, boolean>;

  constructor({ clock, flushesInFlight, streams }: Engine) {
    this.statements = streams;
    this.#writes = new GroupCommit({
      clock,
      flush: ([item]) => writeOne(streams, item as { lease: InstanceLease; chunk: StreamChunk }),
      flushesInFlight,
      measure: ({ chunk }) => ({ rows: 1, bytes: chunk.data.byteLength }),
      maxRows: 1, // chunks are large, and nothing is won by sending several at once
    });
  }

  write(lease: InstanceLease, chunk: StreamChunk): Promise<boolean> {
    return this.#writes.add({ lease, chunk });
  }

  async idle(): Promise<void> {
    await this.#writes.idle();
  }
}

async function writeOne(
  streams: StreamStatements,
  { lease, chunk }: { lease: InstanceLease; chunk: StreamChunk },
): Promise<boolean[]> {
  return [await streams.write(lease, chunk)];
}
