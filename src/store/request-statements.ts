/** A request of a caller who may send it again, and has a key for it. */
export interface RequestKey {
  readonly namespace: string;
  /** A hash: keys may say what they are for. */
  readonly key: string;
}

export interface RequestInsert extends RequestKey {
  /** A hash of all that was asked for. Under one key it must always be the same. */
  readonly fingerprint: string;
  /** What it is to be done to, as JSON. A request that is sent again is done to the same, or to nothing. */
  readonly target: string;
  /** For how long it is remembered. */
  readonly keepMs: number;
}

export interface RememberedRequest {
  readonly fingerprint: string;
  readonly target: string;
  /** As JSON; null while it is under way, or where its process was lost. */
  readonly answer: string | null;
}

/** What is remembered of requests, so that each is done once however often it is sent. */
export interface RequestStatements {
  /** Null where there is none, or where it was too long ago. */
  find(request: RequestKey): Promise<RememberedRequest | null>;

  /** Remembers a request that is about to be done; gives what is remembered under its key, now or from before. */
  begin(request: RequestInsert): Promise<RememberedRequest>;

  /** It is done. Also forgets some that were remembered for long enough. */
  finish(request: RequestKey, answer: string): Promise<void>;

  /** It was refused: nothing was done, and it may be asked for again. */
  forget(request: RequestKey): Promise<void>;
}

/** How many are forgotten with each that is done. */
export const MOST_FORGOTTEN = 20;
