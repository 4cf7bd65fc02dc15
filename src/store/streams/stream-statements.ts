import type { InstanceLease } from "../instances/instance-records.ts";

/** One piece of a stream that a step gives. */
export interface StreamChunk {
  /** Names the stream within its instance: see `streamName`. */
  readonly stream: string;
  /** Counted from 0. */
  readonly number: number;
  readonly data: Uint8Array;
}

/** Streams whose names begin alike, but for one. */
export interface StreamRange {
  readonly ref: string;
  readonly from: string;
  /** No longer in the range. */
  readonly below: string;
  /** Spared; null where none is. */
  readonly except: string | null;
}

/** Streams that steps give, in chunks. */
export interface StreamStatements {
  /** Gives whether the run is still its sender's; if it isn't, nothing was written. A chunk that is sent again is known. */
  write(lease: InstanceLease, chunk: StreamChunk): Promise<boolean>;
  /** Null where there is none. */
  read(ref: string, stream: string, number: number): Promise<Uint8Array | null>;
  wipe(range: StreamRange): Promise<void>;
  /** Everything that runs before this one have left behind. */
  wipeRuns(ref: string, before: number): Promise<void>;
}
