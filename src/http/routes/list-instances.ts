import { present } from "../present.ts";
import { defineRoute } from "../route.ts";
import { arrayOf, objectOf } from "../schema.ts";
import { CURSOR, LIMIT, NAME, NEXT_CURSOR, ORDER, TIME } from "../schemas.ts";
import { INSTANCE, STATUS, workflowResource } from "./instance-schemas.ts";

const PAGE = objectOf({ instances: arrayOf(INSTANCE), cursor: NEXT_CURSOR }, ["instances", "cursor"]);

export const listInstances = defineRoute({
  method: "GET",
  path: "/workflows/{workflowName}/instances",
  name: "listInstances",
  summary: "One page of a workflow's instances.",
  operation: "read",
  resource: workflowResource,
  params: { workflowName: NAME },
  query: {
    status: STATUS,
    createdFrom: { ...TIME, description: "Created at this time or later." },
    createdBefore: { ...TIME, description: "Created before this time." },
    order: { ...ORDER, description: "By the time of creation. Default: newest." },
    limit: { ...LIMIT, description: "Default: 100." },
    cursor: CURSOR,
  },
  answers: {
    200: {
      description: "A page.",
      schema: PAGE,
    },
  },
  errors: [404],
  handle: async ({ host, params, query, show }) => {
    const { createdFrom, createdBefore, ...others } = query;
    const page = await host.workflow(params.workflowName).binding.list({
      ...others,
      ...(createdFrom === undefined ? {} : { createdFrom: new Date(createdFrom) }),
      ...(createdBefore === undefined ? {} : { createdBefore: new Date(createdBefore) }),
    });
    return { status: 200, body: present(PAGE, page, show) };
  },
});
