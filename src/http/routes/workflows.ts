import { toJsonSchema } from "../../schema.ts";
import { listVersions as listVersionsOf } from "../../workflows/instances/lists/list-versions.ts";
import { NAME } from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf } from "../schemas/schema.ts";
import { workflowResource } from "./instance-schemas.ts";
import { defineRoute } from "./route.ts";

const WORKFLOW = component(
  "Workflow",
  objectOf(
    {
      name: { type: "string", description: "The name under which its instances are stored." },
      key: { type: "string", description: "The key by which the application's code knows it." },
    },
    ["name", "key"],
  ),
);

export const listWorkflows = defineRoute({
  method: "GET",
  path: "/workflows",
  name: "listWorkflows",
  summary: "The workflows that this process has registered.",
  operation: "read",
  resource: () => ({ kind: "application" }),
  asksDatabase: false,
  forNarrowed: "theSame",
  answers: {
    200: { description: "All of them.", schema: objectOf({ workflows: arrayOf(WORKFLOW) }, ["workflows"]) },
  },
  handle: async ({ host }) => ({
    status: 200,
    body: { workflows: host.workflows.map(({ name, key }) => ({ name, key })) },
  }),
});

const DECLARED = { ...nullable({ type: "object" }), description: "As JSON Schema; null if that isn't known." } as const;

const SCHEMAS = objectOf(
  {
    input: DECLARED,
    events: {
      ...nullable({ type: "object", additionalProperties: DECLARED }),
      description: "By type. Null if the workflow takes any event.",
    },
  },
  ["input", "events"],
);

export const readSchemas = defineRoute({
  method: "GET",
  path: "/workflows/{workflowName}/schemas",
  name: "readSchemas",
  summary: "What a workflow of this process declares of its params and events, for forms.",
  operation: "read",
  params: { workflowName: NAME },
  resource: workflowResource,
  asksDatabase: false,
  forNarrowed: "theSame",
  answers: { 200: { description: "Of its newest version.", schema: SCHEMAS } },
  errors: [404],
  handle: async ({ host, params }) => {
    const { definition } = host.workflow(params.workflowName).registered;
    const { input = null, events = null } = definition ?? {};
    const declared = [...(events ?? [])].map(([type, schema]) => [type, toJsonSchema(schema)] as const);
    const body = { input: input && toJsonSchema(input), events: events && Object.fromEntries(declared) };
    return { status: 200, body };
  },
});

const VERSION = component(
  "WorkflowVersion",
  objectOf(
    {
      version: { ...nullable({ type: "integer" }), description: "Null is the workflow without a version." },
      unfinished: { type: "integer", description: "The number of its instances that aren't finished." },
      registered: {
        type: "boolean",
        description: "Whether this process has it. Only a process that has it runs its instances.",
      },
    },
    ["version", "unfinished", "registered"],
  ),
);

export const listVersions = defineRoute({
  method: "GET",
  path: "/workflows/{workflowName}/versions",
  name: "listVersions",
  summary: "The versions of a workflow that this process has, or that unfinished instances are on.",
  operation: "read",
  params: { workflowName: NAME },
  resource: workflowResource,
  answers: {
    200: { description: "The newest first.", schema: objectOf({ versions: arrayOf(VERSION) }, ["versions"]) },
  },
  errors: [404],
  handle: async ({ host, params }) => {
    const workflow = host.storedWorkflow(params.workflowName);
    const versions = await listVersionsOf(workflow.runtime, workflow.stored);
    if (versions.length === 0) await host.checkStored(workflow);
    return { status: 200, body: { versions } };
  },
});
