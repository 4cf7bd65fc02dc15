import type { Contender } from "../harness/contender.ts";

/** A contender whose worker has nothing to do. */
export interface IdleContender extends Contender {
  open(database: string): Promise<IdleSession>;
}

export interface IdleSession extends AsyncDisposable {
  /** Gives the worker something to do, and resolves when it is done, which shows that the worker runs. */
  work(): Promise<void>;
}
