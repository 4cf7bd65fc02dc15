import { decodeCursor, encodeCursor } from "../cursor.ts";
import { NotFoundError } from "../errors.ts";
import { checkText } from "../hooks/names.ts";
import { checkOptions, invalidOption } from "../options.ts";
import type { JobRecord } from "../store/jobs/job-records.ts";
import type { Labels } from "../workflows/define/labels.ts";
import type { WorkflowRuntime } from "../workflows/workflow-runtime.ts";
import { countItems, findLast, type JobCount } from "./find-items.ts";
import type { JobError, JobProgress } from "./job-progress.ts";
import {
  type HookJobAction,
  type InstanceJobAction,
  type JobHookFilter,
  type JobInstanceFilter,
  type JobOptions,
  type JobRequest,
  parseJobRequest,
  type StoredRequest,
  selectInstances,
} from "./job-request.ts";

/** A job as an operator sees it. */
export interface JobState {
  readonly id: string;
  readonly action: InstanceJobAction | HookJobAction;
  readonly target: "instances" | "hooks";
  /** As it was given; times are milliseconds. */
  readonly filter: JobInstanceFilter | JobHookFilter;
  readonly options: JobOptions;
  readonly state: "running" | "finished" | "cancelled";
  /** How many matched when it was started. */
  readonly matching: number;
  /** Whether counting stopped early: at least this many matched. */
  readonly bounded: boolean;
  /** On how many the action was done. */
  readonly done: number;
  /** How many had changed meanwhile, so that the action wasn't for them any more. */
  readonly skipped: number;
  readonly failed: number;
  /** The first failures. */
  readonly errors: readonly JobError[];
  readonly startedAt: Date;
  /** Null until nothing is done for it any more: a job that was cancelled first counts what it has done. */
  readonly endedAt: Date | null;
  /** Who started it; null if that is unknown. */
  readonly actor: string | null;
}

/** A job that was started. */
export interface Job {
  readonly id: string;
  /** Throws `job.not_found` if it was deleted: that is when another job is started a week or more after its end. */
  status(): Promise<JobState>;
  /** Nothing is done any more to instances and hooks that it hasn't reached. Harmless if it has ended. */
  cancel(): Promise<JobState>;
}

export interface JobListOptions {
  /** The `cursor` of the previous page. */
  readonly cursor?: string;
  /** From 1 to 100. Default: 50. */
  readonly limit?: number;
}

export interface JobPage {
  /** The newest first. */
  readonly jobs: readonly JobState[];
  /** Null on the last page. A page of a caller that sees only some of them can have fewer than its limit. */
  readonly cursor: string | null;
}

/** What the sender of a request is and sees. */
export interface JobSender {
  readonly actor?: string | null;
  /** The labels of the instances that it sees. Default: it sees all, and hooks. */
  readonly within?: Labels | null;
}

/** For how long an operator can look at a job that has ended. */
const KEPT_MS = 7 * 86_400_000;
const PURGED_AT_ONCE = 100;
const MOST_LISTED = 100;
/** How often a page reads so many: a caller that sees few of them doesn't have all of them read. */
const MOST_READS = 3;
const LONGEST_ID = 100;

/** Actions on all instances or hooks that match a filter. They run in batches, in the processes that have a worker. */
export class Jobs {
  readonly #runtime: WorkflowRuntime;

  /** @internal */
  constructor(runtime: WorkflowRuntime) {
    this.#runtime = runtime;
  }

  /**
   * Counts the instances or hooks that match, and starts a job that acts on each of them once. It ends by itself; those that
   * are created later don't take part.
   *
   * @example
   * const job = await app.jobs.start({ action: "terminate", instances: { workflow: "checkout", labels: { tenant: "acme" } } });
   */
  async start(request: JobRequest): Promise<Job> {
    return this.handle(await this.startAs(request, {}));
  }

  /** How many match now. Changes nothing. */
  async count(request: JobRequest): Promise<JobCount> {
    return this.countFor(request, {});
  }

  /** Throws `job.not_found`. */
  async get(id: string): Promise<Job> {
    return this.handle((await this.find(id)).id);
  }

  async list(options: JobListOptions = {}): Promise<JobPage> {
    checkOptions(options, { label: "list", fields: ["cursor", "limit"] });
    const { cursor, limit = 50 } = options;
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_LISTED) {
      throw invalidOption(`limit must be a whole number from 1 to ${MOST_LISTED}`);
    }
    const before = cursor === undefined ? null : decodeCursor(cursor);
    return this.listWithin(null, before, limit);
  }

  /** @internal */
  async startAs(given: unknown, { actor = null, within = null }: JobSender, id?: string): Promise<string> {
    const request = parseJobRequest(this.#runtime, given, within);
    const { store, namespace } = this.#runtime;
    store.engine.refuseNesting();
    const counted = await countItems(store, namespace, request);
    const last =
      request.target === "hooks" ? null : ((await findLast(store, selectInstances(namespace, request, null))) ?? "");
    const progress: JobProgress = { ...counted, ...NOTHING_DONE, last };
    const job = { namespace, id: id ?? store.createId(), actor };
    await store.engine.jobs.insert({ ...job, request: JSON.stringify(request), progress: JSON.stringify(progress) });
    store.work.post({ namespace, delayMs: 0 });
    await this.#forget().catch(() => {}); // another job will do it
    return job.id;
  }

  /** @internal */
  countFor(given: unknown, { within = null }: JobSender): Promise<JobCount> {
    const request = parseJobRequest(this.#runtime, given, within);
    return countItems(this.#runtime.store, this.#runtime.namespace, request);
  }

  /** Jobs of senders who see these labels only; null is all. @internal */
  async listWithin(within: Labels | null, before: string | null, limit: number): Promise<JobPage> {
    const { store, namespace } = this.#runtime;
    const found: JobRecord[] = [];
    let from = before;
    for (let reads = 0; reads < MOST_READS && found.length <= limit; reads++) {
      const read = await store.engine.jobs.list({ namespace, before: from, limit: MOST_LISTED });
      found.push(...read.filter((record) => isWithin(record, within)));
      from = read.length < MOST_LISTED ? null : (read.at(-1)?.id ?? null);
      if (from === null) break;
    }
    const page = found.slice(0, limit);
    const reached = found.length > limit ? (page.at(-1)?.id ?? null) : from;
    return { jobs: page.map(toState), cursor: reached === null ? null : encodeCursor(reached) };
  }

  /** @internal */
  async find(id: string, within: Labels | null = null): Promise<JobState> {
    const { store, namespace } = this.#runtime;
    const record = await store.engine.jobs.get({ namespace, id: checkText(id, "The id of a job", LONGEST_ID) });
    if (record === null || !isWithin(record, within)) throw jobNotFound();
    return toState(record);
  }

  /** @internal */
  async cancel(id: string, within: Labels | null = null): Promise<JobState> {
    await this.find(id, within);
    const { store, namespace } = this.#runtime;
    const record = await store.engine.jobs.cancel({ namespace, id });
    if (record === null) throw jobNotFound();
    return toState(record);
  }

  /** Deletes jobs that ended long ago. */
  async #forget(): Promise<void> {
    const { store, namespace } = this.#runtime;
    while ((await store.engine.jobs.purge(namespace, KEPT_MS, PURGED_AT_ONCE)) === PURGED_AT_ONCE);
  }

  /** @internal */
  handle(id: string): Job {
    return { id, status: () => this.find(id), cancel: () => this.cancel(id) };
  }
}

const NOTHING_DONE = { done: 0, skipped: 0, failed: 0, errors: [], cursor: null, batch: [] };

function jobNotFound(): NotFoundError {
  return new NotFoundError("job.not_found", "There is no job with this id. A job is kept for a week after its end.");
}

function isWithin({ request }: JobRecord, within: Labels | null): boolean {
  if (within === null) return true;
  const labels = (JSON.parse(request) as StoredRequest).within;
  return (
    labels !== null &&
    Object.entries(within).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value)
  );
}

function toState(record: JobRecord): JobState {
  const { id, actor, startedAt, endedAt, cancelled } = record;
  const { action, target, filter, options } = JSON.parse(record.request) as StoredRequest;
  const { matching, bounded, done, skipped, failed, errors } = JSON.parse(record.progress) as JobProgress;
  return {
    id,
    action,
    target,
    filter,
    options,
    state: cancelled ? "cancelled" : endedAt === null ? "running" : "finished",
    ...{ matching, bounded, done, skipped, failed, errors },
    startedAt: new Date(startedAt),
    endedAt: endedAt === null ? null : new Date(endedAt),
    actor,
  };
}
