import type { InstanceParent } from "../../workflows/instances/instance.ts";
import { listInstances as listInstancesOf } from "../../workflows/instances/lists/list-instances.ts";
import type { InstanceListOptions, InstancePage } from "../../workflows/instances/workflow-binding.ts";
import { hideParents, seesParent } from "../access/related-instances.ts";
import { invalidRequest } from "../answers/http-error.ts";
import { present } from "../answers/present.ts";
import { type PageRequest, readPage } from "../answers/read-page.ts";
import { CURSOR, LIMIT, NAME, NEXT_CURSOR, ORDER, TEXT, TIME } from "../schemas/common-schemas.ts";
import { arrayOf, objectOf } from "../schemas/schema.ts";
import { INSTANCE, STATUS, workflowResource } from "./instance-schemas.ts";
import { type Answer, type Call, defineRoute } from "./route.ts";

const USUAL_LIMIT = 100;

const FILTER = {
  status: { type: "array", items: STATUS, maxItems: 20, description: "May be repeated: one of these." },
  label: {
    type: "array",
    items: { type: "string", maxLength: 400 },
    maxItems: 16,
    description: "tenant=acme; may be repeated: all of these.",
  },
  createdFrom: { ...TIME, description: "Created at this time or later." },
  createdBefore: { ...TIME, description: "Created before this time." },
  finishedFrom: { ...TIME, description: "Finished at this time or later." },
  finishedBefore: { ...TIME, description: "Finished before this time." },
  idPrefix: { ...TEXT, description: "Ids that begin with this." },
  version: { type: "integer", minimum: 0, description: "Of the workflow; 0 is the one without a version." },
  parentWorkflow: { ...NAME, description: "With parentId: the instance whose step created it." },
  parentId: NAME,
  step: { ...TEXT, description: "The present run has reached a step with this name." },
  error: {
    ...TEXT,
    description: "Errored and diverged instances with this text in their error, in upper or lower case.",
  },
  order: { ...ORDER, description: "By the time of creation. Default: newest." },
  limit: { ...LIMIT, description: `Default: ${USUAL_LIMIT}.` },
  cursor: CURSOR,
} as const;

const TIMES = ["createdFrom", "createdBefore", "finishedFrom", "finishedBefore"] as const;
const PAGE = objectOf({ instances: arrayOf(INSTANCE), cursor: NEXT_CURSOR }, ["instances", "cursor"]);

type Query = { readonly [Name in (typeof TIMES)[number] | "parentWorkflow" | "parentId" | "error"]?: string } & {
  readonly label?: readonly string[];
  readonly version?: number;
};

export const listInstances = defineRoute({
  method: "GET",
  path: "/workflows/{workflowName}/instances",
  name: "listInstances",
  summary: "One page of a workflow's instances.",
  operation: "read",
  resource: workflowResource,
  params: { workflowName: NAME },
  query: FILTER,
  answers: { 200: { description: "A page.", schema: PAGE } },
  errors: [404],
  forNarrowed: "onlyTheirs",
  details: ({ query }) => ({ filter: toListOptions(query) }),
  handle: async ({ params, query, ...call }) => {
    call.host.checkErrorFilter(query, call.scope);
    const workflow = call.host.storedWorkflow(params.workflowName);
    return answerList(call, query, async (options) => {
      const page = await listInstancesOf(workflow.runtime, workflow.stored.name, options);
      if (page.instances.length === 0 && !call.scope.narrowed) await call.host.checkStored(workflow);
      return page;
    });
  },
});

export const listAllInstances = defineRoute({
  method: "GET",
  path: "/instances",
  name: "listAllInstances",
  summary: "One page of the instances of all workflows.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  query: FILTER,
  answers: { 200: { description: "A page.", schema: PAGE } },
  forNarrowed: "onlyTheirs",
  details: ({ query }) => ({ filter: toListOptions(query) }),
  handle: async ({ query, ...call }) => {
    const { instances } = call.host;
    call.host.checkErrorFilter(query, call.scope);
    return answerList(call, query, async (options) => (await instances?.list(options)) ?? NOTHING);
  },
});

const NOTHING: InstancePage = { instances: [], cursor: null };

async function answerList<Sent extends Query>(
  { host, scope, show }: Pick<Call, "host" | "scope" | "show">,
  query: Sent,
  list: (options: InstanceListOptions) => Promise<InstancePage>,
): Promise<Answer> {
  const { limit = USUAL_LIMIT, ...given } = toListOptions(query);
  const labels = scope.filter(given.labels);
  if (labels === null || !(await seesParent(host, scope, given.parent))) return { status: 200, body: NOTHING };
  const filter = { ...given, labels };
  const read = async (request: PageRequest) => {
    const { instances, cursor } = await list({ ...filter, ...request });
    return { items: await hideParents(host, scope, instances), cursor };
  };
  const { items: instances, cursor } = await readPage({ ...filter, limit }, read, (one) =>
    present(INSTANCE, one, show),
  );
  return { status: 200, body: { instances, cursor } };
}

function toListOptions<Sent extends Query>(query: Sent): InstanceListOptions {
  const { label, version, parentWorkflow, parentId, ...rest } = query;
  const times = TIMES.flatMap((name) => (query[name] === undefined ? [] : [[name, new Date(query[name])]]));
  const labels = label === undefined ? {} : { labels: toLabels(label) };
  const versions = version === undefined ? {} : { version: version === 0 ? null : version };
  const parents = parentWorkflow === undefined && parentId === undefined ? {} : { parent: toParent(query) };
  return { ...rest, ...Object.fromEntries(times), ...labels, ...versions, ...parents } as InstanceListOptions;
}

function toParent({ parentWorkflow, parentId }: Query): InstanceParent {
  if (parentWorkflow !== undefined && parentId !== undefined) return { workflowName: parentWorkflow, id: parentId };
  throw invalidRequest("A parent in the query needs both parentWorkflow and parentId.");
}

/** A label can't have two values. */
function toLabels(texts: readonly string[]): Readonly<Record<string, string>> {
  const labels = texts.map(toLabel);
  const keys = new Set(labels.map(([key]) => key));
  if (keys.size === labels.length) return Object.fromEntries(labels);
  throw invalidRequest("The query has a label more than once.");
}

function toLabel(text: string): [key: string, value: string] {
  const equals = text.indexOf("=");
  if (equals > 0) return [text.slice(0, equals), text.slice(equals + 1)];
  throw invalidRequest("A label in the query is a key, an equals sign and a value: label=tenant=acme.");
}
