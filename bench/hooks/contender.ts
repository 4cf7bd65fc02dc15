import type { Payload } from "./payload.ts";

export type Engine = "sqlite" | "postgres";

/** Somebody who can enqueue work and run it: Perdure, a peer, or plain SQL. */
export interface Contender {
  readonly name: string;
  readonly role: "ours" | "peer" | "floor";
  readonly engine: Engine;
  /** What differs from the defaults, for the report. */
  readonly settings: string;
  /** The works that it takes part in, where not in all. */
  readonly works?: readonly string[];
  /** So many hooks are enough for a drain, where its pace makes more of them pointless. */
  readonly maximumDrain?: number;
  /** Prepares a fresh database: a path for SQLite, a URL for PostgreSQL. */
  open(database: string): Promise<Session>;
}

/** A contender on a database of its own. Producers and workers opened here are closed before the session is. */
export interface Session extends AsyncDisposable {
  /** Opens a producer with connections of its own, like another process would. */
  openProducer(): Promise<Producer>;
  /** Starts a worker with connections of its own. `onRun` is the handler's whole body. */
  startWorker(onRun: (payload: Payload) => void): Promise<AsyncDisposable>;
  /** How many hooks the database holds that aren't settled. Asked on a connection of its own. */
  countUnsettled(): Promise<number>;
}

export interface Producer extends AsyncDisposable {
  /** One call, one hook. Resolves when it is committed. */
  enqueue(payload: Payload): Promise<void>;
  /** Many hooks by the fastest way that the contender has. */
  enqueueMany(payloads: readonly Payload[]): Promise<void>;
}
