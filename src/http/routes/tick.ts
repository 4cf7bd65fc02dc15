import { MAYBE_TIME } from "../schemas/common-schemas.ts";
import { objectOf } from "../schemas/schema.ts";
import { defineRoute } from "./route.ts";

export const tick = defineRoute({
  method: "POST",
  path: "/_runner/tick",
  name: "tick",
  summary: "Runs what is due, until nothing is or for as long as a request may take.",
  operation: "tick",
  resource: () => ({ kind: "application" }),
  answers: {
    200: {
      description: "It has run.",
      schema: objectOf({ nextWakeAt: { ...MAYBE_TIME, description: "When something is due next." } }, ["nextWakeAt"]),
    },
  },
  handle: async ({ host }) => {
    const next = await host.ticker?.tick();
    return { status: 200, body: { nextWakeAt: next?.toISOString() ?? null } };
  },
});
