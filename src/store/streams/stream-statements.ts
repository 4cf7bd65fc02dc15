import type { InstanceLease } from "../instances/instance-records.ts";
import type { StreamChunk, StreamRange } from "./stream-records.ts";

/** Streams that steps give, in chunks. */
export interface StreamStatements {
  /** Returns whether the run is still its sender's; if it isn't, nothing was written. A chunk that is sent again is known. */
  write(lease: InstanceLease, chunk: StreamChunk): Promise<boolean>;
  /** Null where there is none. */
  read(ref: string, stream: string, number: number): Promise<Uint8Array | null>;
  wipe(range: StreamRange): Promise<void>;
  /** Everything that runs before this one have left behind. */
  wipeRuns(ref: string, before: number): Promise<void>;
}
