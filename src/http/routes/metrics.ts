import { readActivity as readMinutes } from "../../monitoring/activity-report.ts";
import { ACTIVITY_FIELDS, MOST_MINUTES } from "../../monitoring/meters/activity.ts";
import { FLUSHES } from "../../monitoring/meters/meter.ts";
import { readMetrics as read } from "../../monitoring/metrics.ts";
import { toText } from "../../monitoring/prometheus.ts";
import { chooseMediaType } from "../answers/media-types.ts";
import { present } from "../answers/present.ts";
import { TIME } from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf, type Schema } from "../schemas/schema.ts";
import { defineRoute } from "./route.ts";

const COUNT = { type: "integer" } as const;

const HISTOGRAM = component(
  "Histogram",
  objectOf(
    {
      count: COUNT,
      sum: { type: "number" },
      buckets: arrayOf(objectOf({ upTo: { type: "number" }, count: COUNT }, ["upTo", "count"])),
    },
    ["count", "sum", "buckets"],
  ),
);

const HOOK = { started: COUNT, completed: COUNT, retried: COUNT, failed: COUNT, running: COUNT } as const;
const WORKFLOW = { started: COUNT, completed: COUNT, errored: COUNT, terminated: COUNT, running: COUNT } as const;
const STEPS = objectOf({ completed: COUNT, retried: COUNT, failed: COUNT }, ["completed", "retried", "failed"]);
const TIMES = { queueSeconds: HISTOGRAM, durationSeconds: HISTOGRAM } as const;
const FLUSH = component(
  "FlushMetrics",
  allOf({ writes: COUNT, failures: COUNT, items: HISTOGRAM, durationSeconds: HISTOGRAM }),
);
const CLAIMS = component("ClaimMetrics", allOf({ claimed: COUNT, durationSeconds: HISTOGRAM }));
const OLDEST = nullable({ type: "number" });
const BACKLOG = component(
  "Backlog",
  allOf({ due: COUNT, waiting: COUNT, running: COUNT, inLine: COUNT, oldestDueMs: OLDEST }),
);

const METRICS = component(
  "Metrics",
  allOf({
    namespace: { type: "string" },
    since: { ...TIME, description: "When this process began to count." },
    hooks: byName("HookMetrics", allOf({ ...HOOK, ...TIMES })),
    workflows: byName("WorkflowMetrics", allOf({ ...WORKFLOW, steps: STEPS, ...TIMES, stepSeconds: HISTOGRAM })),
    flushes: allOf(Object.fromEntries(FLUSHES.map((name) => [name, FLUSH]))),
    claims: allOf({ hooks: CLAIMS, workflows: CLAIMS }),
    queue: {
      ...nullable(
        allOf({
          at: TIME,
          hooks: BACKLOG,
          instances: BACKLOG,
          deadLetters: COUNT,
          workers: allOf({ alive: COUNT, dead: COUNT }),
        }),
      ),
      description: "Of all processes. Null if the database doesn't answer.",
    },
  }),
);

const MINUTE = allOf({ at: TIME, ...Object.fromEntries(ACTIVITY_FIELDS.map((field) => [field, COUNT])) });
const ACTIVITY = component("Activity", allOf({ since: TIME, minutes: arrayOf(component("ActivityMinute", MINUTE)) }));

const TEXTS = {
  "text/plain": { format: "prometheus", header: "text/plain; version=0.0.4; charset=utf-8" },
  "application/openmetrics-text": {
    format: "openmetrics",
    header: "application/openmetrics-text; version=1.0.0; charset=utf-8",
  },
} as const;

export const readMetrics = defineRoute({
  method: "GET",
  path: "/metrics",
  name: "readMetrics",
  summary: "Metrics of the process that answers, as Prometheus or OpenMetrics reads them, or in JSON.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  asksDatabase: false,
  answers: {
    200: { description: "By the header `Accept`.", schema: METRICS, texts: Object.keys(TEXTS) },
  },
  handle: async ({ host, request, show }) => {
    const metrics = await read(host.parts.store, host.parts.namespace);
    const wanted = chooseMediaType(request.headers.get("accept"), [
      "text/plain",
      "application/openmetrics-text",
      "application/json",
    ]);
    if (wanted === "application/json") return { status: 200, body: present(METRICS, metrics, show) };
    const { format, header } = TEXTS[wanted];
    return new Response(toText(metrics, format), { status: 200, headers: { "content-type": header } });
  },
});

export const readActivity = defineRoute({
  method: "GET",
  path: "/activity",
  name: "readActivity",
  summary: "What the process that answers has started and finished in each of the last minutes.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  query: { minutes: { type: "integer", minimum: 1, maximum: MOST_MINUTES, description: "Default: 60." } },
  asksDatabase: false,
  answers: { 200: { description: "The present minute is the last.", schema: ACTIVITY } },
  handle: async ({ host, query, show }) => {
    const report = readMinutes(host.parts.store, host.parts.namespace, query);
    return { status: 200, body: present(ACTIVITY, report, show) };
  },
});

/** An object with all of these fields. */
function allOf<const Properties extends Record<string, Schema>>(properties: Properties) {
  return objectOf(properties, Object.keys(properties) as (keyof Properties & string)[]);
}

function byName(name: string, schema: Schema): Schema {
  return { type: "object", additionalProperties: component(name, schema) };
}
