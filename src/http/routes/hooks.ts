import { hookNotFound } from "../../errors.ts";
import { HOOK_STATUSES } from "../../store/hooks/hook-records.ts";
import { present } from "../answers/present.ts";
import { type PageRequest, readPage } from "../answers/read-page.ts";
import {
  CURSOR,
  FAILURE,
  LIMIT,
  MAYBE_TIME,
  NAME,
  NEXT_CURSOR,
  ORDER,
  TEXT,
  TIME,
  UNREADABLE,
  VALUE,
} from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf, type Schema } from "../schemas/schema.ts";
import { answerOnce } from "./repeatable-acts.ts";
import { defineRoute } from "./route.ts";

const STATUS = { type: "string", enum: HOOK_STATUSES } as const satisfies Schema;

const HOOK = component(
  "Hook",
  objectOf(
    {
      id: { type: "string" },
      namespace: { type: "string" },
      name: { type: "string" },
      key: nullable({ type: "string" }),
      status: STATUS,
      attempts: { type: "integer" },
      payload: VALUE,
      error: nullable(FAILURE),
      createdAt: TIME,
      lastAttemptAt: MAYBE_TIME,
      availableAt: { ...MAYBE_TIME, description: "When it is due; while it is processing, when its lease ends." },
      finishedAt: MAYBE_TIME,
      unreadable: UNREADABLE,
    },
    ["id", "namespace", "name", "key", "status", "attempts", "createdAt", "lastAttemptAt", "availableAt", "finishedAt"],
  ),
);

const PAGE = objectOf({ hooks: arrayOf(HOOK), cursor: NEXT_CURSOR }, ["hooks", "cursor"]);
const USUAL_LIMIT = 50;
const IDS = objectOf({ ids: { type: "array", items: NAME, minItems: 1, maxItems: 1000 } }, ["ids"]);
const CHANGED = objectOf(
  { ids: { type: "array", items: { type: "string" }, description: "The hooks that were changed." } },
  ["ids"],
);

export const listHooks = defineRoute({
  method: "GET",
  path: "/hooks",
  name: "listHooks",
  summary: "One page of hooks. Those with the status failed are dead letters.",
  operation: "read",
  resource: () => ({ kind: "hooks" }),
  query: {
    status: STATUS,
    name: NAME,
    idPrefix: { ...TEXT, description: "Ids that begin with this." },
    createdFrom: { ...TIME, description: "Triggered at this time or later." },
    createdBefore: { ...TIME, description: "Triggered before this time." },
    error: { ...TEXT, description: "Hooks with this text in their last error, in upper or lower case." },
    order: { ...ORDER, description: "By the order of triggers. Default: newest." },
    limit: { ...LIMIT, description: `Default: ${USUAL_LIMIT}.` },
    cursor: CURSOR,
  },
  answers: {
    200: {
      description: "A page.",
      schema: PAGE,
    },
  },
  handle: async ({ host, query, scope, show }) => {
    const { limit = USUAL_LIMIT, createdFrom, createdBefore, ...others } = query;
    host.checkErrorFilter(query, scope);
    const filter = {
      ...others,
      ...(createdFrom === undefined ? {} : { createdFrom: new Date(createdFrom) }),
      ...(createdBefore === undefined ? {} : { createdBefore: new Date(createdBefore) }),
    };
    const read = async (request: PageRequest) => {
      const { hooks: items, nextCursor: cursor } = await host.parts.durableHooks.list({ ...filter, ...request });
      return { items, cursor };
    };
    const { items: hooks, cursor } = await readPage({ ...filter, limit }, read, (one) => present(HOOK, one, show));
    return { status: 200, body: { hooks, cursor } };
  },
});

export const getHook = defineRoute({
  method: "GET",
  path: "/hooks/{hookId}",
  name: "getHook",
  summary: "A hook. Most are deleted when they are completed.",
  operation: "read",
  resource: ({ hookId }) => ({ kind: "hook", hookId }),
  params: { hookId: NAME },
  answers: { 200: { description: "As it is now.", schema: HOOK } },
  errors: [404],
  handle: async ({ host, params, show }) => {
    const hook = await host.parts.durableHooks.get(params.hookId);
    if (hook === null) throw hookNotFound();
    return { status: 200, body: present(HOOK, hook, show) };
  },
});

export const redriveHooks = defineRoute({
  method: "POST",
  path: "/hooks/redrive",
  name: "redriveHooks",
  summary: "Tries dead letters again, with fresh attempts. One whose key a newer hook holds is left as it is.",
  operation: "operate",
  destructive: false,
  resource: () => ({ kind: "hooks" }),
  body: IDS,
  details: ({ body: { ids } }) => ({ hooks: { ids } }),
  repeatable: true,
  answers: { 200: { description: "What was done.", schema: CHANGED } },
  errors: [409],
  handle: async ({ host, body, repeatable }) => {
    const ids = await answerOnce(repeatable, () => host.parts.durableHooks.redrive(body.ids));
    return { status: 200, body: { ids } };
  },
});

export const discardHooks = defineRoute({
  method: "POST",
  path: "/hooks/discard",
  name: "discardHooks",
  summary: "Deletes dead letters, or completed hooks that were kept.",
  operation: "operate",
  resource: () => ({ kind: "hooks" }),
  body: IDS,
  details: ({ body: { ids } }) => ({ hooks: { ids } }),
  repeatable: true,
  answers: { 200: { description: "What was done.", schema: CHANGED } },
  errors: [409],
  handle: async ({ host, body, repeatable }) => {
    const ids = await answerOnce(repeatable, () => host.parts.durableHooks.discard(body.ids));
    return { status: 200, body: { ids } };
  },
});

export const cancelHooks = defineRoute({
  method: "POST",
  path: "/hooks/cancel",
  name: "cancelHooks",
  summary:
    "Cancels hooks that have not begun, by id or by name and key. A running hook ends its attempt, but isn't run again.",
  operation: "operate",
  resource: () => ({ kind: "hooks" }),
  body: { anyOf: [objectOf({ id: NAME }, ["id"]), objectOf({ name: NAME, key: NAME }, ["name", "key"])] },
  details: ({ body }) => ({ hooks: "id" in body ? { ids: [body.id] } : { ids: [], ...body } }),
  repeatable: true,
  answers: {
    200: {
      description: "What was done.",
      schema: objectOf({ cancelled: arrayOf({ type: "string" }), running: arrayOf({ type: "string" }) }, [
        "cancelled",
        "running",
      ]),
    },
  },
  errors: [409],
  handle: async ({ host, body, repeatable }) => {
    const { durableHooks } = host.parts;
    const act = () => durableHooks.cancel("id" in body ? body.id : body);
    const { cancelled, running } = await answerOnce(repeatable, act);
    return { status: 200, body: { cancelled, running } };
  },
});
