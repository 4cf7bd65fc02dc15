import { listWorkers as list } from "../../monitoring/list-workers.ts";
import { present } from "../answers/present.ts";
import { TIME } from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf } from "../schemas/schema.ts";
import { defineRoute } from "./route.ts";

const COUNT = { type: "integer" } as const;
const NAMES = arrayOf({ type: "string" });

const WORKER = component(
  "Worker",
  objectOf(
    {
      id: { type: "string", description: "The owner's name in its leases." },
      alive: { type: "boolean", description: "Whether it has been seen lately, by the database's clock." },
      host: { type: "string" },
      pid: nullable(COUNT),
      version: { type: "string", description: "Of Perdure." },
      hooks: NAMES,
      workflows: NAMES,
      concurrency: objectOf({ hooks: COUNT, workflows: COUNT }, ["hooks", "workflows"]),
      startedAt: TIME,
      lastSeenAt: TIME,
    },
    ["id", "alive", "host", "pid", "version", "hooks", "workflows", "concurrency", "startedAt", "lastSeenAt"],
  ),
);

const WORKERS = objectOf({ workers: arrayOf(WORKER) }, ["workers"]);

export const listWorkers = defineRoute({
  method: "GET",
  path: "/workers",
  name: "listWorkers",
  summary: "The workers of all processes that live, or have died within a day.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  answers: { 200: { description: "The one that was seen last is the first.", schema: WORKERS } },
  handle: async ({ host, show }) => {
    const { store, namespace } = host.parts;
    return { status: 200, body: present(WORKERS, { workers: await list(store, namespace) }, show) };
  },
});
