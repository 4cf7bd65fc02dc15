import {
  type HookAction,
  type JobClaim,
  type JobInsert,
  type JobPageRequest,
  type JobRecord,
  type JobReference,
  type JobWrite,
  type JobWriteResult,
  rowOfJob,
} from "../jobs/job-records.ts";
import { toJobRecord, toWriteResult } from "../jobs/job-rows.ts";
import type { JobStatements } from "../jobs/job-statements.ts";
import { endOfPrefix } from "../text-order.ts";
import type { SqliteAccess, SqliteDriver } from "./drivers/driver.ts";
import type { SqliteHookStatements } from "./hook-statements.ts";
import { DISCARD_HOOK, REDRIVE_HOOK } from "./sql/hooks-operate.ts";
import { CANCEL_TARGETS, cancelNextTriggers, cancelPendingHooks } from "./sql/hooks-trigger.ts";
import {
  CANCEL_JOB,
  CLAIM_JOB,
  FIND_HELD_JOB,
  GET_JOB,
  INSERT_JOB,
  LIST_JOBS,
  PURGE_JOBS,
  WRITE_JOB,
} from "./sql/jobs.ts";

const CANCELS = [cancelPendingHooks(CANCEL_TARGETS.id), cancelNextTriggers(CANCEL_TARGETS.id)];

export class SqliteJobStatements implements JobStatements {
  readonly #access: SqliteAccess;
  readonly #driver: SqliteDriver;
  readonly #hooks: Pick<SqliteHookStatements, "insertNow">;

  constructor(access: SqliteAccess, hooks: Pick<SqliteHookStatements, "insertNow">) {
    this.#access = access;
    this.#driver = access.driver;
    this.#hooks = hooks;
  }

  async insert(job: JobInsert): Promise<void> {
    const { namespace, id, actor, request, progress } = job;
    await this.#access.write(() => {
      const now = this.#access.now();
      const isNew = this.#driver.run(INSERT_JOB, [namespace, id, actor, request, progress, now]) === 1;
      if (isNew) this.#hooks.insertNow([rowOfJob(job)]);
    });
  }

  async claim({ namespace, id, lock, leaseMs }: JobClaim): Promise<JobRecord | null> {
    const [row] = await this.#access.write(() =>
      this.#driver.all(CLAIM_JOB, [namespace, id, lock, this.#access.now(), leaseMs]),
    );
    return row === undefined ? null : toJobRecord(row);
  }

  write(write: JobWrite): Promise<JobWriteResult> {
    return this.#access.write(() => this.#writeNow(write));
  }

  changeHooks(
    { namespace, id, lock }: JobReference & { readonly lock: string },
    action: HookAction,
    ids: readonly string[],
    toWrite: (changed: readonly string[]) => JobWrite,
  ): Promise<JobWriteResult> {
    return this.#access.write(() => {
      if (this.#driver.all(FIND_HELD_JOB, [namespace, id, lock]).length === 0) return "lost";
      return this.#writeNow(toWrite(ids.filter((hook) => this.#changeHook(action, namespace, hook))));
    });
  }

  async cancel(job: JobReference): Promise<JobRecord | null> {
    const { namespace, id } = job;
    await this.#access.write(() => this.#driver.run(CANCEL_JOB, [namespace, id, this.#access.now()]));
    return this.get(job);
  }

  async get({ namespace, id }: JobReference): Promise<JobRecord | null> {
    const [row] = await this.#access.read(() => this.#driver.all(GET_JOB, [namespace, id]));
    return row === undefined ? null : toJobRecord(row);
  }

  async list({ namespace, before, limit }: JobPageRequest): Promise<JobRecord[]> {
    const end = before ?? endOfPrefix("");
    return (await this.#access.read(() => this.#driver.all(LIST_JOBS, [namespace, end, limit]))).map(toJobRecord);
  }

  purge(namespace: string, keptMs: number, limit: number): Promise<number> {
    return this.#access.write(() => this.#driver.run(PURGE_JOBS, [namespace, this.#access.now() - keptMs, limit]));
  }

  #writeNow({ namespace, id, lock, progress, outcome }: JobWrite): JobWriteResult {
    const leaseMs = outcome.kind === "held" ? outcome.leaseMs : null;
    const parameters = [namespace, id, lock, progress, outcome.kind, this.#access.now(), leaseMs];
    return toWriteResult(this.#driver.all(WRITE_JOB, parameters)[0]);
  }

  #changeHook(action: HookAction, namespace: string, id: string): boolean {
    if (action === "redrive") return this.#driver.run(REDRIVE_HOOK, [this.#access.now(), namespace, id]) === 1;
    if (action === "discard") return this.#driver.run(DISCARD_HOOK, [namespace, id]) === 1;
    return CANCELS.some((statement) => this.#driver.all(statement, [namespace, id]).length > 0);
  }
}
