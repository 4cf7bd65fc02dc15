import { MAYBE_TIME } from "../schemas/common-schemas.ts";
import { objectOf } from "../schemas/schema.ts";
import { defineRoute } from "./route.ts";

export const tick = defineRoute({
  method: "POST",
  path: "/_runner/tick",
  name: "tick",
  summary: "Runs due work until nothing is due, or until the deadline of a request.",
  operation: "tick",
  resource: () => ({ kind: "application" }),
  answers: {
    200: {
      description: "The tick has ended.",
      schema: objectOf({ nextWakeAt: { ...MAYBE_TIME, description: "When work is due next." } }, ["nextWakeAt"]),
    },
  },
  handle: async ({ host }) => {
    const next = await host.ticker?.tick();
    return { status: 200, body: { nextWakeAt: next?.toISOString() ?? null } };
  },
});
