/** The names that a worker runs in one namespace. */
export interface WorkerNames {
  readonly hooks: readonly string[];
  readonly workflows: readonly string[];
}

/** What a worker writes about itself. Its id is the beginning of its tokens, so that a token tells who holds a row. */
export interface WorkerInsert {
  readonly id: string;
  readonly host: string;
  readonly pid: number | null;
  /** Of Perdure. */
  readonly version: string;
  readonly concurrency: { readonly hooks: number; readonly workflows: number };
  /** By namespace. */
  readonly work: Readonly<Record<string, WorkerNames>>;
}

export interface WorkerRecord extends WorkerInsert {
  readonly startedAt: number;
  readonly seenAt: number;
  /** Milliseconds of database time since it was last seen. */
  readonly silentMs: number;
}

/** For how long the row of a dead worker is kept. */
export const KEPT_MS = 86_400_000;
/** The most rows that one sweep deletes. */
export const MOST_SWEPT = 1000;
