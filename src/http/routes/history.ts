import { present } from "../answers/present.ts";
import { type PageRequest, readPage } from "../answers/read-page.ts";
import {
  CURSOR,
  FAILURE,
  LIMIT,
  MAYBE_TIME,
  NEXT_CURSOR,
  ORDER,
  TIME,
  UNREADABLE,
  VALUE,
} from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf } from "../schemas/schema.ts";
import { INSTANCE_PARAMS, INSTANCE_PATH, instanceResource, ROLLBACK, STATUS, VERSION } from "./instance-schemas.ts";
import { defineRoute } from "./route.ts";

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
      inside: { type: "string", description: "The step inside which it was called." },
      attempt: { type: "integer" },
      output: VALUE,
      error: FAILURE,
      progress: VALUE,
      awaits: { type: "string", description: "The type of event that it waits for." },
      dueAt: { ...TIME, description: "The deadline of a wait, or the time of the next attempt." },
      event: objectOf({ type: { type: "string" }, payload: VALUE }, ["type"]),
      unreadable: UNREADABLE,
    },
    ["run", "position", "at", "kind", "type", "name", "count"],
  ),
);

const EARLIER_RUN = component(
  "EarlierRun",
  objectOf(
    {
      run: { type: "integer" },
      version: VERSION,
      status: STATUS,
      output: VALUE,
      error: FAILURE,
      rollback: ROLLBACK,
      startedAt: MAYBE_TIME,
      finishedAt: MAYBE_TIME,
      unreadable: UNREADABLE,
    },
    ["run", "status", "startedAt", "finishedAt"],
  ),
);

const ABOUT = objectOf(
  {
    run: { type: "integer", description: "The present run." },
    version: VERSION,
    earlierRuns: { ...arrayOf(EARLIER_RUN), description: "Oldest first; at most 100, and fewer where they are large." },
    runsCursor: {
      ...nullable({ type: "integer" }),
      description: "For runsAfter, if there are more earlier runs; null otherwise.",
    },
  },
  ["run", "earlierRuns", "runsCursor"],
);

const PAGE = objectOf({ ...ABOUT.properties, entries: arrayOf(ENTRY), cursor: NEXT_CURSOR }, [
  ...ABOUT.required,
  "entries",
  "cursor",
]);

const USUAL_LIMIT = 100;

export const readHistory = defineRoute({
  method: "GET",
  path: `${INSTANCE_PATH}/history`,
  name: "readHistory",
  summary: "One page of the history of an instance's steps, in all runs.",
  operation: "read",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  query: {
    run: { type: "integer", minimum: 1, maximum: 1_000_000_000, description: "Only this run." },
    order: { ...ORDER, description: "Default: oldest." },
    limit: { ...LIMIT, description: `Default: ${USUAL_LIMIT}.` },
    cursor: CURSOR,
    runsAfter: {
      type: "integer",
      minimum: 0,
      maximum: 1_000_000_000,
      description: "Earlier runs after this one. Default: from the first.",
    },
  },
  answers: {
    200: {
      description: "A page.",
      schema: PAGE,
    },
  },
  errors: [404],
  forNarrowed: "onlyTheirs",
  handle: async ({ host, params, query, scope, show }) => {
    const { limit = USUAL_LIMIT, ...filter } = query;
    const instance = host.instance(params, scope);
    let about: unknown;
    const read = async (request: PageRequest) => {
      const { entries: items, cursor, ...rest } = await instance.history({ ...filter, ...request });
      const first = about === undefined;
      about ??= present(ABOUT, rest, show);
      return { items, cursor, ...(first ? { length: JSON.stringify(about).length } : {}) };
    };
    const { items: entries, cursor } = await readPage({ ...filter, limit }, read, (one) => present(ENTRY, one, show));
    return { status: 200, body: { ...(about as object), entries, cursor } };
  },
});
