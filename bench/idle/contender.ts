import type { Contender } from "../harness/contender.ts";

/** Something whose worker has nothing to do. */
export interface IdleContender extends Contender {
  open(database: string): Promise<IdleSession>;
}

export interface IdleSession extends AsyncDisposable {
  /** Gives the worker something to do, and resolves when it is done: it shows that the worker is there. */
  work(): Promise<void>;
}
