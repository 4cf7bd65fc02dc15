import { listLines as list } from "../../monitoring/list-lines.ts";
import { present } from "../answers/present.ts";
import { CURSOR, MAYBE_TIME, NEXT_CURSOR, TIME } from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf } from "../schemas/schema.ts";
import { defineRoute } from "./route.ts";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;

const MEMBER = component(
  "InstanceInLine",
  objectOf({ workflowName: TEXT, id: TEXT, createdAt: TIME, startedAt: MAYBE_TIME }, [
    "workflowName",
    "id",
    "createdAt",
    "startedAt",
  ]),
);

const LINE = component(
  "Line",
  objectOf(
    {
      kind: { type: "string", enum: ["concurrency", "rateLimit"] },
      key: TEXT,
      workflowName: TEXT,
      limit: { ...nullable(COUNT), description: "Null if this process lacks the workflow's code." },
      periodMs: { ...nullable(COUNT), description: "Of the workflow's rate; null without one." },
      running: { ...COUNT, description: "How many hold a slot, counted up to 1000." },
      inside: { ...arrayOf(MEMBER), description: "Some of those." },
      waiting: { ...COUNT, description: "How many wait, counted up to 1000." },
      next: { ...arrayOf(MEMBER), description: "Those that come first." },
      looksAt: { ...MAYBE_TIME, description: "When a worker looks at it; null while it waits for a slot." },
    },
    ["kind", "key", "workflowName", "limit", "periodMs", "running", "inside", "waiting", "next", "looksAt"],
  ),
);

const PAGE = objectOf({ lines: arrayOf(LINE), cursor: NEXT_CURSOR }, ["lines", "cursor"]);

export const listLines = defineRoute({
  method: "GET",
  path: "/lines",
  name: "listLines",
  summary: "One page of the lines of instances that share a limit, with those inside and those that wait.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  query: {
    waiting: { type: "boolean", description: "Only lines in which an instance waits. Default: false." },
    limit: { type: "integer", minimum: 1, maximum: 100, description: "Default: 20." },
    cursor: CURSOR,
  },
  answers: { 200: { description: "A page, in the order of kind and key.", schema: PAGE } },
  handle: async ({ host, query, show }) => {
    const { store, namespace, workflows } = host.parts;
    const page =
      workflows === null
        ? { lines: [], cursor: null }
        : await list(store, namespace, (name) => workflows.workflows.limitsOf(name), query);
    return { status: 200, body: present(PAGE, page, show) };
  },
});
