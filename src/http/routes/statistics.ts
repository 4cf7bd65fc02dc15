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
    const [hooks, instances] = await Promise.all([
      scope.narrowed ? undefined : durableHooks.statistics(),
      workflows === null ? undefined : countAllInstances(workflows, scope.filter() ?? {}),
    ]);
    return { status: 200, body: present(STATISTICS, { hooks, instances }, show) };
  },
});
