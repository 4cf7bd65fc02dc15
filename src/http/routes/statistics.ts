import { readGauges } from "../../monitoring/queue-gauges.ts";
import { countAllInstances } from "../../workflows/instances/list-instances.ts";
import { present } from "../answers/present.ts";
import { component, nullable, objectOf } from "../schemas/schema.ts";
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

const INSTANCE_COUNTS = component("InstanceCounts", {
  type: "object",
  description: "By status, and the total.",
  additionalProperties: COUNT,
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
  answers: { 200: { description: "Counts.", schema: STATISTICS } },
  forNarrowed: "onlyTheirs",
  handle: async ({ host, scope, show }) => {
    const { durableHooks, workflows } = host.parts;
    const { store, namespace } = host.parts;
    const [hooks, instances, gauges] = await Promise.all([
      scope.narrowed ? undefined : durableHooks.statistics(),
      workflows === null ? undefined : countAllInstances(workflows, scope.filter() ?? {}),
      scope.narrowed ? undefined : readGauges(store, namespace),
    ]);
    const instanceQueue = gauges === undefined ? undefined : (gauges?.instances ?? null);
    return { status: 200, body: present(STATISTICS, { hooks, instances, instanceQueue }, show) };
  },
});
