import { readGauges } from "../../monitoring/queue-gauges.ts";
import { INSTANCE_STATUSES } from "../../store/instances/instance-records.ts";
import { countAllInstances, countLabelledInstances } from "../../workflows/instances/lists/count-instances.ts";
import type { CountOptions } from "../../workflows/instances/workflow-binding.ts";
import type { Scope } from "../access/scope.ts";
import { forbidden } from "../answers/http-error.ts";
import { present } from "../answers/present.ts";
import type { HttpHost } from "../http-host.ts";
import { arrayOf, component, nullable, objectOf } from "../schemas/schema.ts";
import { defineRoute } from "./route.ts";

const COUNT = { type: "integer" } as const;

const HOOK_STATISTICS = component(
  "HookStatistics",
  objectOf(
    {
      pending: COUNT,
      due: { ...COUNT, description: "Pending and due by now." },
      processing: COUNT,
      failed: COUNT,
      completed: COUNT,
      oldestDueMs: { ...nullable({ type: "number" }), description: "How long the oldest due hook has been waiting." },
    },
    ["pending", "due", "processing", "failed", "completed", "oldestDueMs"],
  ),
);

const INSTANCE_QUEUE = component(
  "InstanceQueue",
  objectOf(
    {
      due: { ...COUNT, description: "A worker could claim them now." },
      waiting: { ...COUNT, description: "Due later: sleeps, retries, waits with a deadline." },
      running: COUNT,
      inLine: { ...COUNT, description: "They wait for a slot or a start of a limit." },
      oldestDueMs: {
        ...nullable({ type: "number" }),
        description: "How long the oldest due instance has been waiting.",
      },
    },
    ["due", "waiting", "running", "inLine", "oldestDueMs"],
  ),
);

const FIGURES = ["total", ...INSTANCE_STATUSES] as const;

const INSTANCE_COUNTS = component("InstanceCounts", {
  ...objectOf(
    {
      ...(Object.fromEntries(FIGURES.map((figure) => [figure, COUNT])) as Record<
        (typeof FIGURES)[number],
        typeof COUNT
      >),
      atLeast: {
        ...arrayOf({ type: "string", enum: FIGURES }),
        description: "The figures that are lower limits, because there are more instances than were counted.",
      },
    },
    [...FIGURES, "atLeast"],
  ),
  description: "By status, and the total.",
});

const STATISTICS = objectOf(
  {
    hooks: { ...HOOK_STATISTICS, description: "Left out for a caller that sees only some instances." },
    instances: objectOf(
      { total: INSTANCE_COUNTS, workflows: { type: "object", additionalProperties: INSTANCE_COUNTS } },
      ["total", "workflows"],
    ),
    instanceQueue: {
      ...nullable(INSTANCE_QUEUE),
      description: "Some seconds old; null if the database doesn't answer. Left out as the counts of hooks are.",
    },
  },
  [],
);

export const readStatistics = defineRoute({
  method: "GET",
  path: "/stats",
  name: "readStatistics",
  summary: "Counts of hooks and instances.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  query: {
    exact: {
      type: "boolean",
      description: "Count all instances, however long it takes: for callers that see all. Default: false.",
    },
  },
  answers: { 200: { description: "Counts.", schema: STATISTICS } },
  forNarrowed: "onlyTheirs",
  handle: async ({ host, query, scope, show }) => {
    const { durableHooks, store, namespace } = host.parts;
    if (scope.narrowed && query.exact) throw forbidden("Only a caller that sees all instances can have all counted.");
    const [hooks, instances, gauges] = await Promise.all([
      scope.narrowed ? undefined : durableHooks.statistics(),
      countFor(host, scope, query),
      scope.narrowed ? undefined : readGauges(store, namespace),
    ]);
    const instanceQueue = gauges === undefined ? undefined : (gauges?.instances ?? null);
    return { status: 200, body: present(STATISTICS, { hooks, instances, instanceQueue }, show) };
  },
});

async function countFor({ parts: { workflows } }: HttpHost, scope: Scope, query: object): Promise<object | undefined> {
  if (workflows === null) return undefined;
  return scope.narrowed
    ? countLabelledInstances(workflows, scope.filter() ?? {})
    : countAllInstances(workflows, query as CountOptions);
}
