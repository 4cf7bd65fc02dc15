import { NotFoundError } from "../../errors.ts";
import { SubjectDispatcher } from "../../subjects/subject-dispatcher.ts";
import type { HttpResource } from "../access/authorization.ts";
import { present } from "../answers/present.ts";
import { type PageRequest, readPage } from "../answers/read-page.ts";
import type { HttpHost } from "../http-host.ts";
import {
  CURSOR,
  DONE,
  FAILURE,
  LIMIT,
  MAYBE_TIME,
  NAME,
  NEXT_CURSOR,
  TIME,
  UNREADABLE,
  VALUE,
} from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf, type Schema } from "../schemas/schema.ts";
import { answerOnce } from "./repeatable-acts.ts";
import { defineRoute } from "./route.ts";

const STATUS = { type: "string", enum: ["idle", "failed", "leased", "running", "retired"] } as const satisfies Schema;
const PARAMS = { dispatcherId: NAME, subjectKey: NAME } as const;
const PATH = "/subjects/{dispatcherId}/{subjectKey}";

const SUBJECT = component(
  "Subject",
  objectOf(
    {
      profile: { type: "string" },
      dispatcherId: { type: "string" },
      subjectKey: { type: "string" },
      group: nullable({ type: "string" }),
      status: STATUS,
      revision: { type: "integer" },
      cursor: VALUE,
      meta: VALUE,
      unreadable: UNREADABLE,
      nextDueAt: MAYBE_TIME,
      leaseOwner: nullable({ type: "string" }),
      leaseExpiresAt: MAYBE_TIME,
      attempts: { type: "integer" },
      consecutiveFailures: { type: "integer" },
      consecutiveTimeouts: { type: "integer" },
      lastError: nullable(FAILURE),
      lastStartedAt: MAYBE_TIME,
      lastSuccessAt: MAYBE_TIME,
      lastFailureAt: MAYBE_TIME,
      createdAt: TIME,
      updatedAt: TIME,
    },
    [
      "profile",
      "dispatcherId",
      "subjectKey",
      "group",
      "status",
      "revision",
      "cursor",
      "meta",
      "nextDueAt",
      "leaseOwner",
    ],
  ),
);

const PAGE = objectOf({ subjects: arrayOf(SUBJECT), cursor: NEXT_CURSOR }, ["subjects", "cursor"]);

const USUAL_LIMIT = 50;

export const listDispatchers = defineRoute({
  method: "GET",
  path: "/subjects",
  name: "listSubjectDispatchers",
  summary: "The subject dispatchers that this process has defined.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  asksDatabase: false,
  answers: {
    200: { description: "Their ids.", schema: objectOf({ dispatchers: arrayOf({ type: "string" }) }, ["dispatchers"]) },
  },
  handle: async ({ host }) => ({ status: 200, body: { dispatchers: host.dispatcherIds } }),
});

export const listSubjects = defineRoute({
  method: "GET",
  path: "/subjects/{dispatcherId}",
  name: "listSubjects",
  summary: "One page of a dispatcher's subjects, in the order of their keys.",
  operation: "read",
  resource: ({ dispatcherId }) => ({ kind: "subjects", dispatcherId }),
  params: { dispatcherId: NAME },
  query: { status: STATUS, group: NAME, limit: { ...LIMIT, description: `Default: ${USUAL_LIMIT}.` }, cursor: CURSOR },
  answers: {
    200: {
      description: "A page.",
      schema: PAGE,
    },
  },
  handle: async ({ host, params, query, show }) => {
    const { limit = USUAL_LIMIT, ...filter } = query;
    const dispatcher = dispatcherOf(host, params);
    const read = async (request: PageRequest) => {
      const { subjects: items, nextCursor: cursor } = await dispatcher.listSubjects({ ...filter, ...request });
      return { items, cursor };
    };
    const { items: subjects, cursor } = await readPage({ ...filter, limit }, read, (one) =>
      present(SUBJECT, one, show),
    );
    return { status: 200, body: { subjects, cursor } };
  },
});

export const getSubject = defineRoute({
  method: "GET",
  path: PATH,
  name: "getSubject",
  summary: "A subject.",
  operation: "read",
  resource: subjectResource,
  params: PARAMS,
  answers: { 200: { description: "As it is now.", schema: SUBJECT } },
  errors: [404],
  handle: async ({ host, params, show }) => {
    const subject = await dispatcherOf(host, params).getSubject(params.subjectKey);
    if (subject === null) throw missing();
    return { status: 200, body: present(SUBJECT, subject, show) };
  },
});

export const releaseSubject = defineRoute({
  method: "POST",
  path: `${PATH}/release`,
  name: "releaseSubject",
  summary: "Takes a subject from its owner: neither a success nor a failure, and due as before.",
  operation: "operate",
  resource: subjectResource,
  params: PARAMS,
  body: objectOf(
    {
      revision: {
        type: "integer",
        minimum: 1,
        description: "The revision that you have read. If it has changed, nothing is done.",
      },
    },
    ["revision"],
  ),
  repeatable: true,
  answers: { 200: { description: "As it is now.", schema: SUBJECT } },
  errors: [404, 409],
  handle: async ({ host, params, body: { revision }, repeatable, show }) => {
    const { subjectKey } = params;
    const dispatcher = dispatcherOf(host, params);
    const released = await answerOnce(repeatable, async () => {
      const subject = await dispatcher.releaseSubject({ subjectKey, revision });
      return repeatable === null ? subject : null; // it has users' values
    });
    const subject = released ?? (await dispatcher.getSubject(subjectKey));
    if (subject === null) throw missing();
    return { status: 200, body: present(SUBJECT, subject, show) };
  },
});

export const makeSubjectDue = defineRoute({
  method: "POST",
  path: `${PATH}/due`,
  name: "makeSubjectDue",
  summary: "Makes a subject without an owner due now.",
  operation: "operate",
  destructive: false,
  resource: subjectResource,
  params: PARAMS,
  repeatable: true,
  answers: DONE,
  errors: [404, 409],
  handle: async ({ host, params, repeatable }) => {
    await answerOnce(repeatable, async () => {
      await dispatcherOf(host, params).makeSubjectDue(params.subjectKey);
      return null;
    });
    return { status: 204 };
  },
});

interface SubjectParams {
  readonly dispatcherId: string;
  readonly subjectKey: string;
}

function subjectResource(params: SubjectParams): HttpResource {
  return { kind: "subject", dispatcherId: params.dispatcherId, subjectKey: params.subjectKey };
}

function dispatcherOf(host: HttpHost, { dispatcherId }: { readonly dispatcherId: string }): SubjectDispatcher {
  return new SubjectDispatcher(host.subjects(dispatcherId));
}

function missing(): NotFoundError {
  return new NotFoundError("subject.not_found", "There is no subject with this key.");
}
