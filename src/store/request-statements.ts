/** A request with an idempotency key, which its caller may send again. */
export interface RequestKey {
  readonly namespace: string;
  /** A hash, because keys may contain private data. */
  readonly key: string;
}

export interface RequestInsert extends RequestKey {
  /** A hash of all that was asked for. Under one key it must always be the same. */
  readonly fingerprint: string;
  /** The instances that the request concerns, as JSON. A request that is sent again concerns the same ones. */
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

/**
 * Remembers that something was done, in the transaction that does it. Where it is remembered already, it isn't done again. So a
 * request whose process was lost before it could write its answer does nothing twice, whatever others have done meanwhile.
 */
export interface Receipt {
  /** That no other request has. */
  readonly key: string;
  /** As JSON: kept as the receipt's target. */
  readonly note: string;
  readonly keepMs: number;
}

/** The statements for remembered requests, so that each is carried out once, however often it is sent. */
export interface RequestStatements {
  /** Null if the key is unknown or has expired. */
  find(request: RequestKey): Promise<RememberedRequest | null>;

  /** Remembers a request before it is carried out. Returns the request that the key stands for, which may be an earlier one. */
  begin(request: RequestInsert): Promise<RememberedRequest>;

  /** Stores the answer. Also deletes some requests that have expired. */
  finish(request: RequestKey, answer: string): Promise<void>;

  /** Deletes a request that was refused without any effect, so that its key can be used again. */
  forget(request: RequestKey): Promise<void>;

  /** Deletes some requests and receipts that have expired. Returns whether there may be more. */
  sweep(): Promise<boolean>;
}

/**
 * How many expired requests are deleted with each answer: at least as many as one request adds, with a receipt for each
 * instance of a batch.
 */
export const MOST_FORGOTTEN = 1100;
