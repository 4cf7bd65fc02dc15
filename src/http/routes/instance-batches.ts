import type { RestartOptions } from "../../workflows/restart-options.ts";
import { MOST_IN_BATCH } from "../../workflows/workflow-settings.ts";
import { present } from "../present.ts";
import { defineRoute } from "../route.ts";
import { arrayOf, objectOf } from "../schema.ts";
import { NAME } from "../schemas.ts";
import { TRAITS, toCreateOptions } from "./create-instances.ts";
import {
  BATCH_ERROR,
  INSTANCE_PARAMS,
  INSTANCE_PATH,
  instanceResource,
  STATUS,
  workflowResource,
} from "./instance-schemas.ts";

const DELETED = objectOf(
  { deleted: arrayOf(objectOf({ id: { type: "string" } }, ["id"])), errors: arrayOf(BATCH_ERROR) },
  ["deleted", "errors"],
);

export const deleteBatch = defineRoute({
  method: "POST",
  path: "/workflows/{workflowName}/instances/batch/delete",
  name: "deleteBatch",
  summary:
    "Deletes instances with their histories, whatever their state: at most 100 unless the application says otherwise.",
  operation: "manage",
  resource: workflowResource,
  params: { workflowName: NAME },
  body: objectOf({ ids: { type: "array", items: NAME, minItems: 1, maxItems: MOST_IN_BATCH } }, ["ids"]),
  answers: { 200: { description: "What was done.", schema: DELETED } },
  errors: [404],
  handle: async ({ host, params, body, show }) => {
    const deleted = await host.workflow(params.workflowName).binding.deleteBatch(body.ids);
    return { status: 200, body: present(DELETED, deleted, show) };
  },
});

const ENSURED = objectOf(
  {
    id: { type: "string" },
    workflowName: { type: "string" },
    outcome: { type: "string", enum: ["created", "restarted", "unchanged"] },
  },
  ["id", "workflowName", "outcome"],
);

export const restartOrCreate = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/restart-or-create`,
  name: "restartOrCreate",
  summary: "Makes sure that an instance runs (again): creates it, restarts it if it is finished, or leaves it alone.",
  operation: "manage",
  alsoNeeds: "create",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  body: objectOf(
    {
      ...TRAITS,
      when: {
        anyOf: [
          { type: "string", enum: ["finished", "always"] },
          { type: "array", items: STATUS, minItems: 1, maxItems: 20 },
        ],
        description: "The states from which it is restarted. Default: finished.",
      },
    },
    [],
  ),
  bodyOptional: true,
  answers: { 200: { description: "What was done.", schema: ENSURED } },
  errors: [404],
  handle: async ({ host, params, body, show }) => {
    const { workflowName, instanceId: id } = params;
    const options = { ...toCreateOptions(body), id } as RestartOptions<unknown>;
    const { outcome } = await host.workflow(workflowName).binding.restartOrCreate(options);
    return { status: 200, body: present(ENSURED, { id, workflowName, outcome }, show) };
  },
});
