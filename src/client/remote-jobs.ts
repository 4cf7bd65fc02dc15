import { decodeCursor } from "../cursor.ts";
import { checkText } from "../hooks/names.ts";
import type { JobCount } from "../jobs/find-items.ts";
import type { JobRequest } from "../jobs/job-request.ts";
import type { Job, JobListOptions, JobPage, JobState } from "../jobs/jobs.ts";
import { checkOptions } from "../options.ts";
import type { Connection } from "./connection.ts";
import { textOf, toTime } from "./wire.ts";
import type { WorkflowNames } from "./workflow-names.ts";

/** What a client can do with jobs: as in process. */
export interface ClientJobs {
  /** Acts on all instances or hooks that match a filter, once on each. */
  start(request: JobRequest): Promise<Job>;
  /** How many match now. Changes nothing. */
  count(request: JobRequest): Promise<JobCount>;
  /** Throws `job.not_found`. */
  get(id: string): Promise<Job>;
  list(options?: JobListOptions): Promise<JobPage>;
}

type WireJob = Omit<JobState, "startedAt" | "endedAt"> & {
  readonly startedAt: string;
  readonly endedAt: string | null;
};

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"];

/** The jobs of an application on a server. */
export class RemoteJobs implements ClientJobs {
  readonly #connection: Connection;
  readonly #names: WorkflowNames;

  constructor(connection: Connection, names: WorkflowNames) {
    this.#connection = connection;
    this.#names = names;
  }

  async start(request: JobRequest): Promise<Job> {
    const body = await this.#toWire(request);
    return this.#offer(((await this.#connection.send({ method: "POST", path: ["jobs"], body })).body as WireJob).id);
  }

  async count(request: JobRequest): Promise<JobCount> {
    const body = { ...(await this.#toWire(request)), dryRun: true };
    const sent = await this.#connection.send({ method: "POST", path: ["jobs"], body });
    const { matching, bounded } = sent.body as JobCount;
    return { matching, bounded };
  }

  async get(id: string): Promise<Job> {
    return this.#offer((await this.#find(id)).id);
  }

  async list(options: JobListOptions = {}): Promise<JobPage> {
    checkOptions(options, { label: "list", fields: ["cursor", "limit"] });
    const { cursor, limit } = options;
    if (cursor !== undefined) decodeCursor(cursor);
    const query = { ...(cursor === undefined ? {} : { cursor }), limit: textOf(limit) };
    const { body } = await this.#connection.send({ method: "GET", path: ["jobs"], query });
    const page = body as { readonly jobs: readonly WireJob[]; readonly cursor: string | null };
    return { jobs: page.jobs.map(fromWireJob), cursor: page.cursor };
  }

  async #find(id: string): Promise<JobState> {
    const { body } = await this.#connection.send({ method: "GET", path: ["jobs", checkText(id, "The id of a job")] });
    return fromWireJob(body as WireJob);
  }

  #offer(id: string): Job {
    const { lasting } = this.#connection;
    const jobs = new RemoteJobs(lasting, this.#names);
    const cancel = async () => {
      const { body } = await lasting.send({ method: "POST", path: ["jobs", id, "cancel"] });
      return fromWireJob(body as WireJob);
    };
    return { id, status: () => jobs.#find(id), cancel };
  }

  /** With times as texts, and the stored name of the workflow. */
  async #toWire(request: JobRequest): Promise<Record<string, unknown>> {
    checkOptions(request, { label: "A job", fields: ["action", "instances", "hooks", "options"] });
    const target = "hooks" in request ? "hooks" : "instances";
    const { [target]: given, ...rest } = request as unknown as Record<string, object | undefined>;
    const filter: Record<string, unknown> = { ...given };
    for (const name of TIMES)
      if (name in filter) filter[name] = toTime(name, filter[name] as Date | number | undefined);
    if (typeof filter["workflow"] === "string") filter["workflow"] = await this.#names.findStored(filter["workflow"]);
    return { ...rest, [target]: filter };
  }
}

function fromWireJob({ filter, startedAt, endedAt, ...job }: WireJob): JobState {
  const toValue = ([name, value]: [string, unknown]) => [
    name,
    TIMES.includes(name) ? new Date(String(value)).getTime() : value,
  ];
  return {
    ...job,
    filter: Object.fromEntries(Object.entries(filter).map(toValue)),
    startedAt: new Date(startedAt),
    endedAt: endedAt === null ? null : new Date(endedAt),
  };
}
