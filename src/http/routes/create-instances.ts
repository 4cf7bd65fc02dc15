import { alreadyExists } from "../../workflows/prepare-instance.ts";
import { MOST_IN_BATCH } from "../../workflows/workflow-settings.ts";
import { defineRoute } from "../route.ts";
import { arrayOf, component, type FromSchema, objectOf } from "../schema.ts";
import { NAME, VALUE } from "../schemas.ts";
import { fromWire } from "../wire-values.ts";
import { createRepeatably, type RepeatedlyCreated } from "./create-repeatably.ts";
import { INSTANCE_REFERENCE, workflowResource } from "./instance-schemas.ts";

const NEW_INSTANCE = component(
  "NewInstance",
  objectOf(
    {
      id: {
        ...NAME,
        description:
          "Letters, digits and . : _ -, at most 100 unless the application says otherwise, unique within the workflow. Default: one is made.",
      },
      params: VALUE,
      onConflict: {
        type: "string",
        enum: ["error", "return"],
        description: "What to do if there is an instance of this id: 409, or give that one. Default: error.",
      },
    },
    [],
  ),
);

export type NewInstance = FromSchema<typeof NEW_INSTANCE>;

export const createInstance = defineRoute({
  method: "POST",
  path: "/workflows/{workflowName}/instances",
  name: "createInstance",
  summary: "Creates an instance, which starts at once.",
  operation: "create",
  resource: workflowResource,
  params: { workflowName: NAME },
  body: NEW_INSTANCE,
  bodyOptional: true,
  repeatable: true,
  answers: { 201: { description: "It is stored.", schema: INSTANCE_REFERENCE } },
  errors: [404, 409],
  handle: async ({ host, params, body, idempotencyKey }) => {
    const workflow = host.workflow(params.workflowName);
    const options = withParams(body, "params");
    if (idempotencyKey === null) {
      const { id, workflowName } = await workflow.binding.create(options);
      return { status: 201, body: { id, workflowName } };
    }
    const [created] = await createRepeatably(workflow, [options], idempotencyKey);
    const { id, workflowName, refused } = created as RepeatedlyCreated;
    if (refused) throw alreadyExists(workflowName, id);
    return { status: 201, body: { id, workflowName } };
  },
});

export const createBatch = defineRoute({
  method: "POST",
  path: "/workflows/{workflowName}/instances/batch",
  name: "createBatch",
  summary:
    "Creates instances at once, at most 100 unless the application says otherwise. Ids that exist are left out, unless they may be returned.",
  operation: "create",
  resource: workflowResource,
  params: { workflowName: NAME },
  body: objectOf({ instances: { type: "array", items: NEW_INSTANCE, minItems: 1, maxItems: MOST_IN_BATCH } }, [
    "instances",
  ]),
  repeatable: true,
  answers: {
    201: {
      description: "The instances that are new.",
      schema: objectOf({ instances: arrayOf(INSTANCE_REFERENCE) }, ["instances"]),
    },
  },
  errors: [404, 409],
  handle: async ({ host, params, body, idempotencyKey }) => {
    const workflow = host.workflow(params.workflowName);
    const batch = body.instances.map((instance, index) => withParams(instance, `instances[${index}].params`));
    const instances =
      idempotencyKey === null
        ? await workflow.binding.createBatch(batch)
        : (await createRepeatably(workflow, batch, idempotencyKey)).filter(({ refused }) => !refused);
    return { status: 201, body: { instances: instances.map(({ id, workflowName }) => ({ id, workflowName })) } };
  },
});

function withParams({ params, ...rest }: NewInstance, label: string) {
  return params === undefined ? rest : { ...rest, params: fromWire(params, label) };
}
