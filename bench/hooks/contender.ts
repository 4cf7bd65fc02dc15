import type { Contender } from "../harness/contender.ts";
import type { Payload } from "./payload.ts";

/** A library that can enqueue hooks and run them. */
export interface HookContender extends Contender {
  /** How many hooks are enough for a drain, if the contender is too slow for more. */
  readonly maximumDrain?: number;
  /** Prepares a fresh database: a path for SQLite, a URL for PostgreSQL. */
  open(database: string): Promise<Session>;
}

/** A contender on a database of its own. Producers and workers opened here are closed before the session is. */
export interface Session extends AsyncDisposable {
  /** Opens a producer with connections of its own, as another process would. */
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
