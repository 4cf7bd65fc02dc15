import { arrayOf, component, objectOf } from "../schemas/schema.ts";
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
  answers: {
    200: { description: "All of them.", schema: objectOf({ workflows: arrayOf(WORKFLOW) }, ["workflows"]) },
  },
  handle: async ({ host }) => ({
    status: 200,
    body: { workflows: host.workflows.map(({ name, key }) => ({ name, key })) },
  }),
});
