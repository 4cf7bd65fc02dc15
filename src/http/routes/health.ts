import { present } from "../answers/present.ts";
import { TIME } from "../schemas/common-schemas.ts";
import { component, nullable, objectOf } from "../schemas/schema.ts";
import { defineRoute } from "./route.ts";

const STATE_FIELDS = {
  ok: { type: "boolean" },
  problem: { ...nullable({ type: "string" }), description: "What is wrong, in one sentence." },
} as const;
const STATE = component("HealthState", objectOf(STATE_FIELDS, ["ok", "problem"]));

const HEALTH = component(
  "Health",
  objectOf(
    {
      ready: { type: "boolean", description: "Whether every check is ok." },
      checks: objectOf(
        {
          database: STATE,
          schema: STATE,
          dispatcher: {
            ...nullable(objectOf({ ...STATE_FIELDS, lastRoundAt: nullable(TIME) }, ["ok", "problem", "lastRoundAt"])),
            description: "Null if the process runs no dispatcher.",
          },
        },
        ["database", "schema", "dispatcher"],
      ),
    },
    ["ready", "checks"],
  ),
);

const LIVE = objectOf({ live: { type: "boolean" } }, ["live"]);

export const readLiveness = defineRoute({
  method: "GET",
  path: "/health/live",
  name: "readLiveness",
  summary: "Whether the process answers. Needs no authorization if the handler has `publicHealth`.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  public: "health",
  asksDatabase: false,
  forNarrowed: "theSame",
  answers: { 200: { description: "It does.", schema: LIVE } },
  handle: async () => ({ status: 200, body: { live: true } }),
});

export const readReadiness = defineRoute({
  method: "GET",
  path: "/health/ready",
  name: "readReadiness",
  summary: "Whether the process can do its work. Needs no authorization if the handler has `publicHealth`.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  public: "health",
  asksDatabase: false,
  forNarrowed: "theSame",
  answers: {
    200: { description: "It can.", schema: HEALTH },
    503: { description: "It can't, and why.", schema: HEALTH },
  },
  handle: async ({ host, show }) => {
    const health = await host.health.check();
    return { status: health.ready ? 200 : 503, body: present(HEALTH, health, show) };
  },
});
