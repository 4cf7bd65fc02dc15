import type {
  HookAction,
  JobClaim,
  JobInsert,
  JobPageRequest,
  JobRecord,
  JobReference,
  JobWrite,
  JobWriteResult,
} from "./job-records.ts";

/** The statements for jobs. A job has one owner at a time, whose lease ends by itself if the owner is lost. */
export interface JobStatements {
  /** Also inserts its row beside hooks, in one transaction. A job that is sent again changes nothing. */
  insert(job: JobInsert): Promise<void>;

  /** Null if it isn't due, or isn't there. */
  claim(claim: JobClaim): Promise<JobRecord | null>;

  write(write: JobWrite): Promise<JobWriteResult>;

  /**
   * Changes hooks and writes what their job knows of it, in one transaction: `toWrite` receives the ids of the hooks that were
   * changed. Changes nothing if the job has another owner.
   */
  changeHooks(
    lease: JobReference & { readonly lock: string },
    action: HookAction,
    ids: readonly string[],
    toWrite: (changed: readonly string[]) => JobWrite,
  ): Promise<JobWriteResult>;

  /**
   * Without an owner it ends at once; else it is due at once for the owner. Changes nothing that has ended. Returns the job.
   */
  cancel(job: JobReference): Promise<JobRecord | null>;

  get(job: JobReference): Promise<JobRecord | null>;

  /** The newest first. */
  list(request: JobPageRequest): Promise<JobRecord[]>;

  /** Deletes jobs that ended that long ago, at most `limit`. Returns how many. */
  purge(namespace: string, keptMs: number, limit: number): Promise<number>;
}
