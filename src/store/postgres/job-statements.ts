import type { Clock } from "../../clock.ts";
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
import type { Connection } from "./connection/connection.ts";
import type { PostgresClient, PostgresQueryable, PostgresResult } from "./connection/driver.ts";
import { inTransactionOf } from "./connection/transaction.ts";
import { isUniqueViolation } from "./errors.ts";
import type { PostgresHookStatements } from "./hook-statements.ts";
import { cancelHooks, discardHooks, redriveHooks } from "./sql/hooks/hook-operations.ts";
import { cancelJob, claimJob, getJob, holdJob, insertJob, listJobs, purgeJobs, writeJob } from "./sql/jobs.ts";
import type { SchemaPrefix } from "./sql/statement.ts";
import { PostgresStatements } from "./statements.ts";

/** How often a batch of hooks is tried again whose keys others are taking. */
const MOST_CONFLICTS = 5;

type Lease = JobReference & { readonly lock: string };

export class PostgresJobStatements extends PostgresStatements implements JobStatements {
  readonly #hooks: Pick<PostgresHookStatements, "insertWithin">;

  constructor(
    connection: Connection,
    clock: Clock,
    schema: SchemaPrefix,
    hooks: Pick<PostgresHookStatements, "insertWithin">,
  ) {
    super(connection, clock, schema);
    this.#hooks = hooks;
  }

  async insert(job: JobInsert): Promise<void> {
    const { namespace, id, actor, request, progress } = job;
    await inTransactionOf(this.connection, async (client) => {
      const { rowCount } = await this.run(insertJob, [this.now(), namespace, id, actor, request, progress], client);
      if (rowCount === 1) await this.#hooks.insertWithin(client, [rowOfJob(job)]);
    });
  }

  async claim({ namespace, id, lock, leaseMs }: JobClaim): Promise<JobRecord | null> {
    const [row] = (await this.run(claimJob, [this.now(), namespace, id, lock, leaseMs])).rows;
    return row === undefined ? null : toJobRecord(row);
  }

  async write({ namespace, id, lock, progress, outcome }: JobWrite, on?: PostgresQueryable): Promise<JobWriteResult> {
    const leaseMs = outcome.kind === "held" ? outcome.leaseMs : null;
    const values = [this.now(), namespace, id, lock, progress, outcome.kind, leaseMs];
    return toWriteResult((await this.run(writeJob, values, on)).rows[0]);
  }

  /**
   * A trigger may take the key of a dead letter meanwhile, and two of them may have one key: then they are changed one by one.
   */
  async changeHooks(
    lease: Lease,
    action: HookAction,
    ids: readonly string[],
    toWrite: (changed: readonly string[]) => JobWrite,
  ): Promise<JobWriteResult> {
    for (let conflicts = 0; ; conflicts++) {
      const batches = conflicts === 0 ? [ids] : ids.map((id) => [id]);
      try {
        return await inTransactionOf(this.connection, (client) =>
          this.#change(lease, action, batches, toWrite, client),
        );
      } catch (error) {
        if (!isUniqueViolation(error) || conflicts === MOST_CONFLICTS) throw error;
      }
    }
  }

  async cancel(job: JobReference): Promise<JobRecord | null> {
    await this.run(cancelJob, [this.now(), job.namespace, job.id]);
    return this.get(job);
  }

  async get({ namespace, id }: JobReference): Promise<JobRecord | null> {
    const [row] = (await this.run(getJob, [namespace, id])).rows;
    return row === undefined ? null : toJobRecord(row);
  }

  async list({ namespace, before, limit }: JobPageRequest): Promise<JobRecord[]> {
    return (await this.run(listJobs, [namespace, before ?? endOfPrefix(""), limit])).rows.map(toJobRecord);
  }

  async purge(namespace: string, keptMs: number, limit: number): Promise<number> {
    return (await this.run(purgeJobs, [this.now(), namespace, keptMs, limit])).rowCount ?? 0;
  }

  async #change(
    { namespace, id, lock }: Lease,
    action: HookAction,
    batches: readonly (readonly string[])[],
    toWrite: (changed: readonly string[]) => JobWrite,
    client: PostgresClient,
  ): Promise<JobWriteResult> {
    const { rows } = await this.run(holdJob, [namespace, id, lock], client);
    if (rows.length === 0) return "lost";
    const changed: string[] = [];
    for (const ids of batches) changed.push(...(await this.#changeBatch(namespace, action, ids, client)));
    return this.write(toWrite(changed), client);
  }

  async #changeBatch(
    namespace: string,
    action: HookAction,
    ids: readonly string[],
    client: PostgresClient,
  ): Promise<string[]> {
    const toIds = ({ rows }: PostgresResult) => rows.map((row) => row.id as string);
    if (action === "redrive") return toIds(await this.run(redriveHooks, [this.now(), namespace, ids], client));
    if (action === "discard") return toIds(await this.run(discardHooks, [namespace, ids], client));
    const cancelled: string[] = [];
    for (const id of ids) {
      cancelled.push(...toIds(await this.connection.run(cancelHooks(this.schema, "id"), [namespace, id], client)));
    }
    return cancelled;
  }
}
