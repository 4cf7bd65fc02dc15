/** Where to crash: just before a commit takes effect, or just after it, before the caller is answered. */
export type CrashMoment = "before" | "after";

/** Called at each commit, with a description of the write. Null: no crash. */
export type CommitObserver = (description: string) => CrashMoment | null;

export interface Commit {
  readonly perform: () => void;
  /** Ends the process, and with it its open transaction. */
  readonly crash: () => void;
  /** Throws the error that stops the dead process's synchronous code. */
  readonly refuseDead: () => void;
}

/** Commits, unless the observer wants a crash there. */
export function commitObserved(moment: CrashMoment | null, { perform, crash, refuseDead }: Commit): void {
  if (moment !== "before") perform();
  if (moment === null) return;
  crash();
  refuseDead();
}
