import { listUnclaimed as findUnclaimed } from "../../monitoring/list-unclaimed.ts";
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

const UNCLAIMED = objectOf(
  {
    unclaimed: arrayOf(
      component(
        "Unclaimed",
        objectOf(
          {
            kind: { type: "string", enum: ["hook", "workflow"] },
            name: { type: "string" },
            due: { ...COUNT, description: "How many are due: at least this many, if there are over a thousand." },
            since: TIME,
          },
          ["kind", "name", "due", "since"],
        ),
      ),
    ),
  },
  ["unclaimed"],
);

export const listUnclaimed = defineRoute({
  method: "GET",
  path: "/workers/unclaimed",
  name: "listUnclaimed",
  summary: "The names under which hooks or instances are due and that no live worker runs.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  answers: { 200: { description: "They wait until a process registers these names.", schema: UNCLAIMED } },
  handle: async ({ host, show }) => {
    const { store, namespace } = host.parts;
    return { status: 200, body: present(UNCLAIMED, { unclaimed: await findUnclaimed(store, namespace) }, show) };
  },
});
