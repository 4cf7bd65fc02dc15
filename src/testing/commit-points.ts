/** Where to crash: just before a commit takes effect, or just after it, before anybody is told. */
export type CrashMoment = "before" | "after";

/** Asked at each commit, with what is being written in words. Null: go on. */
export type CommitObserver = (description: string) => CrashMoment | null;

export interface Commit {
  readonly perform: () => void;
  /** Ends the process, and with it its open transaction. */
  readonly crash: () => void;
  /** Throws what stops the dead process' synchronous code. */
  readonly refuseDead: () => void;
}

/** Commits, unless the observer wants a crash there. */
export function commitObserved(moment: CrashMoment | null, { perform, crash, refuseDead }: Commit): void {
  if (moment !== "before") perform();
  if (moment === null) return;
  crash();
  refuseDead();
}
