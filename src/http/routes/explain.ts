import { hideOthers } from "../access/related-instances.ts";
import { present } from "../answers/present.ts";
import { FAILURE, MAYBE_TIME, NAME, TIME } from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf } from "../schemas/schema.ts";
import { INSTANCE_PARAMS, INSTANCE_PATH, instanceResource } from "./instance-schemas.ts";
import { defineRoute } from "./route.ts";

const TEXT = { type: "string" } as const;
const COUNT = { type: "integer" } as const;

const STEP = objectOf({ type: TEXT, name: TEXT, count: COUNT, since: TIME }, ["type", "name", "count"]);

/** All fields of all reasons: which of them a reason has follows from `reason`. */
const REASON = component(
  "WaitingReason",
  objectOf(
    {
      reason: {
        type: "string",
        enum: [
          "finished",
          "paused",
          "diverged",
          "unreadable",
          "sleeping",
          "waitingForEvent",
          "waitingForToken",
          "waitingForChild",
          "retrying",
          "scheduled",
          "inLine",
          "rateLimited",
          "running",
          "noWorker",
          "noDispatcher",
          "due",
        ],
        description: "Stable, for programs. The other fields depend on it.",
      },
      status: TEXT,
      at: MAYBE_TIME,
      error: FAILURE,
      pausing: { type: "boolean", description: "Whether running steps must end before it is paused." },
      by: { ...nullable(TEXT), description: "Who paused it; null if that isn't known." },
      code: TEXT,
      message: TEXT,
      step: nullable(STEP),
      until: MAYBE_TIME,
      since: TIME,
      type: { type: "string", description: "The type of the event that it waits for." },
      unreceived: { type: "integer", description: "Events of other types that it hasn't received." },
      workflowName: TEXT,
      id: TEXT,
      attempt: { type: "integer", description: "The next attempt, counted from 1." },
      of: { ...nullable(COUNT), description: "All attempts; null where only the code knows." },
      due: TIME,
      key: TEXT,
      limit: nullable(COUNT),
      ahead: COUNT,
      held: COUNT,
      worker: TEXT,
      host: nullable(TEXT),
      alive: nullable({ type: "boolean" }),
      leaseUntil: TIME,
      name: TEXT,
      workers: COUNT,
      lostBy: nullable(TEXT),
    },
    ["reason"],
  ),
);

const EXPLANATION = component(
  "Explanation",
  objectOf(
    {
      sentence: { type: "string", description: "For people. It may change." },
      reason: REASON,
      others: { ...arrayOf(REASON), description: "The other steps that it waits for at the same time; at most 20." },
      clockAheadMs: {
        type: "integer",
        description: "How far the server's clock is ahead of the database's, if by more than a second.",
      },
    },
    ["sentence", "reason", "others"],
  ),
);

export const explainInstance = defineRoute({
  method: "GET",
  path: `${INSTANCE_PATH}/explain`,
  name: "explainInstance",
  summary: "Why an instance waits.",
  operation: "read",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: { 200: { description: "One sentence for people, and a reason for programs.", schema: EXPLANATION } },
  errors: [404],
  forNarrowed: "onlyTheirs",
  handle: async ({ host, params, scope, show }) => {
    const explanation = await host.instance(params, scope).explain();
    return { status: 200, body: present(EXPLANATION, await hideOthers(host, scope, explanation), show) };
  },
});

export const explainHook = defineRoute({
  method: "GET",
  path: "/hooks/{hookId}/explain",
  name: "explainHook",
  summary: "Why a hook waits.",
  operation: "read",
  resource: ({ hookId }) => ({ kind: "hook", hookId }),
  params: { hookId: NAME },
  answers: { 200: { description: "One sentence for people, and a reason for programs.", schema: EXPLANATION } },
  errors: [404],
  handle: async ({ host, params, show }) => ({
    status: 200,
    body: present(EXPLANATION, await host.parts.durableHooks.explain(params.hookId), show),
  }),
});
