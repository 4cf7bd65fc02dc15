import { decodeCursor } from "../../cursor.ts";
import { instanceNotFound } from "../../errors.ts";
import { HOOK_ACTIONS, INSTANCE_ACTIONS, type JobHookFilter, type JobInstanceFilter } from "../../jobs/job-request.ts";
import type { JobSender, JobState } from "../../jobs/jobs.ts";
import { HOOK_STATUSES } from "../../store/hooks/hook-records.ts";
import type { InstanceParent } from "../../workflows/instances/instance.ts";
import type { HttpResource } from "../access/authorization.ts";
import { seesParent } from "../access/related-instances.ts";
import type { Scope } from "../access/scope.ts";
import { forbidden } from "../answers/http-error.ts";
import type { HttpHost } from "../http-host.ts";
import { CURSOR, LABELS, MAYBE_TIME, NAME, NEXT_CURSOR, TEXT, TIME } from "../schemas/common-schemas.ts";
import { arrayOf, component, type FromSchema, nullable, objectOf } from "../schemas/schema.ts";
import { STATUS } from "./instance-schemas.ts";
import { answerOnce } from "./repeatable-acts.ts";
import { type Call, defineRoute } from "./route.ts";

const ALL = { type: "boolean", description: "Must be true if there is no other condition." } as const;

const INSTANCE_FILTER = component(
  "JobInstanceFilter",
  objectOf(
    {
      all: ALL,
      workflow: { ...NAME, description: "Default: all workflows." },
      status: { anyOf: [STATUS, { type: "array", items: STATUS, minItems: 1, maxItems: 20 }] },
      labels: LABELS,
      createdFrom: TIME,
      createdBefore: TIME,
      finishedFrom: TIME,
      finishedBefore: TIME,
      idPrefix: TEXT,
      version: { ...nullable({ type: "integer", minimum: 1 }), description: "Null is the workflow without one." },
      parent: objectOf({ workflowName: NAME, id: NAME }, ["workflowName", "id"]),
      step: TEXT,
      error: TEXT,
    },
    [],
  ),
);

const HOOK_FILTER = component(
  "JobHookFilter",
  objectOf(
    {
      all: ALL,
      status: { type: "string", enum: HOOK_STATUSES },
      name: NAME,
      idPrefix: TEXT,
      createdFrom: TIME,
      createdBefore: TIME,
      error: TEXT,
    },
    [],
  ),
);

const OPTIONS = objectOf(
  {
    rollback: { type: "boolean", description: "For terminate: runs the rollbacks first." },
    from: objectOf(
      {
        name: NAME,
        count: { type: "integer", minimum: 1 },
        type: { type: "string", enum: ["do", "sleep", "waitForEvent", "result"] },
      },
      ["name"],
    ),
    version: { type: "string", enum: ["newest"] },
  },
  [],
);

const DRY_RUN = { type: "boolean", description: "Only counts what matches." } as const;

const REQUEST = {
  anyOf: [
    objectOf(
      {
        action: { type: "string", enum: INSTANCE_ACTIONS },
        instances: INSTANCE_FILTER,
        options: OPTIONS,
        dryRun: DRY_RUN,
      },
      ["action", "instances"],
    ),
    objectOf({ action: { type: "string", enum: HOOK_ACTIONS }, hooks: HOOK_FILTER, dryRun: DRY_RUN }, [
      "action",
      "hooks",
    ]),
  ],
} as const;

const COUNT = component(
  "JobCount",
  objectOf(
    {
      dryRun: { type: "boolean" },
      matching: { type: "integer" },
      bounded: { type: "boolean", description: "Whether counting stopped early: at least this many match." },
    },
    ["dryRun", "matching", "bounded"],
  ),
);

const JOB = component(
  "Job",
  objectOf(
    {
      id: { type: "string" },
      action: { type: "string", enum: [...INSTANCE_ACTIONS, ...HOOK_ACTIONS] },
      target: { type: "string", enum: ["instances", "hooks"] },
      filter: { type: "object" },
      options: { type: "object" },
      state: { type: "string", enum: ["running", "finished", "cancelled"] },
      matching: { type: "integer", description: "How many matched when it was started." },
      bounded: { type: "boolean", description: "Whether counting stopped early: at least this many matched." },
      done: { type: "integer" },
      skipped: { type: "integer", description: "Those that had changed before it reached them." },
      failed: { type: "integer" },
      errors: arrayOf(
        objectOf(
          {
            workflowName: { type: "string" },
            instanceId: { type: "string" },
            code: { type: "string" },
            message: { type: "string" },
          },
          ["workflowName", "instanceId", "code", "message"],
        ),
      ),
      startedAt: TIME,
      endedAt: { ...MAYBE_TIME, description: "Null until all of its work has ended." },
      actor: { ...nullable({ type: "string" }), description: "Who started it." },
    },
    [
      ...["id", "action", "target", "filter", "options", "state", "matching", "bounded", "done", "skipped", "failed"],
      ...["errors", "startedAt", "endedAt", "actor"],
    ] as const,
  ),
);

const JOBS = objectOf({ jobs: arrayOf(JOB), cursor: NEXT_CURSOR }, ["jobs", "cursor"]);
const USUAL_LIMIT = 50;
const PARAMS = { jobId: NAME } as const;

const jobsResource = (): HttpResource => ({ kind: "jobs" });
const jobResource = ({ jobId }: { readonly jobId: string }): HttpResource => ({ kind: "job", jobId });

export const startJob = defineRoute({
  method: "POST",
  path: "/jobs",
  name: "startJob",
  summary:
    "Acts on all instances or hooks that match a filter, as a job that runs in batches. Hooks also need the permission to operate.",
  operation: "manage",
  resource: jobsResource,
  body: REQUEST,
  repeatable: true,
  answers: {
    200: { description: "How many match. Nothing was done.", schema: COUNT },
    201: { description: "It is stored.", schema: JOB },
  },
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  details: ({ body }) => {
    const { action, ...filters } = body;
    const job = { action, ...filters };
    return "instances" in body ? { filter: toFilter(body.instances) as JobInstanceFilter, job } : { job };
  },
  handle: async ({ host, body, repeatable, scope, access }) => {
    const { dryRun = false, ...request } = body;
    const isHooks = "hooks" in request;
    if (isHooks) await checkHooks({ scope, access });
    const filter = isHooks ? request.hooks : request.instances;
    host.checkErrorFilter(filter, scope);
    if (!isHooks) await checkParent(host, scope, request.instances.parent);
    const given = { ...request, [isHooks ? "hooks" : "instances"]: toFilter(filter) };
    if (dryRun) return { status: 200, body: { dryRun, ...(await host.jobs.countFor(given, senderOf(scope))) } };
    const start = async (id?: string) =>
      toJson(await host.jobs.find(await host.jobs.startAs(given, senderOf(scope), id)));
    if (repeatable === null) return { status: 201, body: await start() };
    const job = await repeatable.once({
      find: async () => host.parts.store.createId(),
      perform: (id) => start(id),
      refuse: () => start(),
    });
    return { status: 201, body: job };
  },
});

export const listJobs = defineRoute({
  method: "GET",
  path: "/jobs",
  name: "listJobs",
  summary: "One page of jobs, the newest first. A job is kept for a week after its end.",
  operation: "read",
  resource: jobsResource,
  query: {
    limit: { type: "integer", minimum: 1, maximum: 100, description: `Default: ${USUAL_LIMIT}.` },
    cursor: CURSOR,
  },
  answers: { 200: { description: "A page.", schema: JOBS } },
  forNarrowed: "onlyTheirs",
  handle: async ({ host, query: { limit = USUAL_LIMIT, cursor }, scope }) => {
    const page = await host.jobs.listWithin(withinOf(scope), cursor === undefined ? null : decodeCursor(cursor), limit);
    return { status: 200, body: { jobs: page.jobs.map(toJson), cursor: page.cursor } };
  },
});

export const getJob = defineRoute({
  method: "GET",
  path: "/jobs/{jobId}",
  name: "getJob",
  summary: "A job and its progress.",
  operation: "read",
  resource: jobResource,
  params: PARAMS,
  answers: { 200: { description: "As it is now.", schema: JOB } },
  errors: [404],
  forNarrowed: "onlyTheirs",
  handle: async ({ host, params: { jobId }, scope }) => {
    return { status: 200, body: toJson(await host.jobs.find(jobId, withinOf(scope))) };
  },
});

export const cancelJob = defineRoute({
  method: "POST",
  path: "/jobs/{jobId}/cancel",
  name: "cancelJob",
  summary: "Stops a job. What it has done stays. Harmless if it has ended.",
  operation: "manage",
  resource: jobResource,
  params: PARAMS,
  repeatable: true,
  answers: { 200: { description: "As it is now.", schema: JOB } },
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  handle: async ({ host, params: { jobId }, repeatable, scope, access }) => {
    const job = await answerOnce(repeatable, async () => {
      const { target } = await host.jobs.find(jobId, withinOf(scope));
      if (target === "hooks") await checkHooks({ scope, access });
      return toJson(await host.jobs.cancel(jobId, withinOf(scope)));
    });
    return { status: 200, body: job };
  },
});

type Scoped = Pick<Call, "scope">;

/** Hooks have no labels, so a caller that sees only some instances has none. */
async function checkHooks({ scope, access }: Pick<Call, "scope" | "access">): Promise<void> {
  if (scope.narrowed || (await access.alsoAllows("operate")).narrowed) {
    throw forbidden("This concerns more than the instances that the caller is allowed to see.");
  }
}

async function checkParent(host: HttpHost, scope: Scope, parent: InstanceParent | undefined): Promise<void> {
  if (parent === undefined || (await seesParent(host, scope, parent))) return;
  throw instanceNotFound(parent.workflowName, parent.id);
}

function withinOf(scope: Scoped["scope"]) {
  return scope.narrowed ? scope.filter() : null;
}

function senderOf(scope: Scoped["scope"]): JobSender {
  return { actor: scope.actor, within: withinOf(scope) };
}

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"];

/** Times as dates. */
function toFilter(filter: FromSchema<typeof INSTANCE_FILTER> | FromSchema<typeof HOOK_FILTER>): object {
  const toValue = ([name, value]: [string, unknown]) => [name, TIMES.includes(name) ? new Date(String(value)) : value];
  return Object.fromEntries(Object.entries(filter).map(toValue));
}

function toJson({ filter, startedAt, endedAt, ...job }: JobState): object {
  const toValue = ([name, value]: [string, unknown]) => [
    name,
    TIMES.includes(name) ? new Date(value as number).toISOString() : value,
  ];
  return {
    ...job,
    filter: Object.fromEntries(Object.entries(filter as JobInstanceFilter | JobHookFilter).map(toValue)),
    startedAt: startedAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
  };
}
