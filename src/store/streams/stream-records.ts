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
  /** If given, nothing is deleted unless this owner still has the run: the statement may arrive late. */
  readonly lease?: InstanceLease;
}
