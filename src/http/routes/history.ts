import type { EarlierRun, HistoryItem } from "../../workflows/history-page.ts";
import { failure, maybeTime, time } from "../present.ts";
import type { ShowValue } from "../redaction.ts";
import { defineRoute } from "../route.ts";
import { arrayOf, component, objectOf } from "../schema.ts";
import { CURSOR, FAILURE, LIMIT, MAYBE_TIME, NEXT_CURSOR, ORDER, TIME, VALUE } from "../schemas.ts";
import { INSTANCE_PARAMS, INSTANCE_PATH, instanceResource, STATUS } from "./instance-schemas.ts";

const ENTRY = component(
  "HistoryEntry",
  objectOf(
    {
      run: { type: "integer" },
      position: { type: "integer" },
      at: TIME,
      kind: { type: "string" },
      type: { type: "string" },
      name: { type: "string" },
      count: { type: "integer" },
      attempt: { type: "integer" },
      output: VALUE,
      error: FAILURE,
      dueAt: { ...TIME, description: "The deadline of a wait, or the time of the next attempt." },
      event: objectOf({ type: { type: "string" }, payload: VALUE }, ["type"]),
    },
    ["run", "position", "at", "kind", "type", "name", "count"],
  ),
);

const EARLIER_RUN = component(
  "EarlierRun",
  objectOf(
    {
      run: { type: "integer" },
      status: STATUS,
      output: VALUE,
      error: FAILURE,
      startedAt: MAYBE_TIME,
      finishedAt: MAYBE_TIME,
    },
    ["run", "status", "startedAt", "finishedAt"],
  ),
);

export const readHistory = defineRoute({
  method: "GET",
  path: `${INSTANCE_PATH}/history`,
  name: "readHistory",
  summary: "One page of what happened at the steps of an instance, in all runs.",
  operation: "read",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  query: {
    run: { type: "integer", minimum: 1, maximum: 1_000_000_000, description: "Only this run." },
    order: { ...ORDER, description: "Default: oldest." },
    limit: { ...LIMIT, description: "Default: 100." },
    cursor: CURSOR,
  },
  answers: {
    200: {
      description: "A page.",
      schema: objectOf(
        {
          run: { type: "integer", description: "The run that it is in." },
          earlierRuns: arrayOf(EARLIER_RUN),
          entries: arrayOf(ENTRY),
          cursor: NEXT_CURSOR,
        },
        ["run", "earlierRuns", "entries", "cursor"],
      ),
    },
  },
  errors: [404],
  handle: async ({ host, params, query, show }) => {
    const { run, earlierRuns, entries, cursor } = await host.instance(params).history(query);
    const body = {
      run,
      earlierRuns: earlierRuns.map((earlier) => toRun(earlier, show)),
      entries: entries.map((entry) => toEntry(entry, show)),
      cursor,
    };
    return { status: 200, body };
  },
});

function toEntry(item: HistoryItem, show: ShowValue): unknown {
  const { run, position, at, kind, type, name, count, attempt, output, error, dueAt, event } = item;
  return {
    run,
    position,
    at: time(at),
    kind,
    type,
    name,
    count,
    ...(attempt === undefined ? {} : { attempt }),
    ...(output === undefined ? {} : { output: show(output, "output") }),
    ...(error === undefined ? {} : { error: failure(error, show) }),
    ...(dueAt === undefined ? {} : { dueAt: time(dueAt) }),
    ...(event === undefined ? {} : { event: toEvent(event, show) }),
  };
}

function toEvent({ type, payload }: NonNullable<HistoryItem["event"]>, show: ShowValue): unknown {
  return payload === undefined ? { type } : { type, payload: show(payload, "payload") };
}

function toRun({ run, status, output, error, startedAt, finishedAt }: EarlierRun, show: ShowValue): unknown {
  return {
    run,
    status,
    ...(output === undefined ? {} : { output: show(output, "output") }),
    ...(error === undefined ? {} : { error: failure(error, show) }),
    startedAt: maybeTime(startedAt),
    finishedAt: maybeTime(finishedAt),
  };
}
