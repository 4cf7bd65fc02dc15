import type { Duration } from "../../duration.ts";
import { PerdureError } from "../../errors.ts";
import { createEach } from "../../workflows/create-batch.ts";
import type { CreateOptions } from "../../workflows/create-options.ts";
import { MOST_IN_BATCH } from "../../workflows/workflow-settings.ts";
import { idOfKey } from "../idempotency.ts";
import { present } from "../present.ts";
import { defineRoute } from "../route.ts";
import { arrayOf, component, type FromSchema, objectOf, type Schema } from "../schema.ts";
import { LABELS, NAME, VALUE } from "../schemas.ts";
import { fromWire } from "../wire-values.ts";
import { createRepeatably } from "./create-repeatably.ts";
import { BATCH_ERROR, INSTANCE_REFERENCE, workflowResource } from "./instance-schemas.ts";

const DURATION = {
  anyOf: [{ type: "integer", minimum: 0 }, NAME],
  description: 'Milliseconds, or a text such as "30 days".',
} as const satisfies Schema;

const PRIORITY = {
  type: "integer",
  minimum: -100,
  maximum: 100,
  description: "Of what waits to start, higher ones start first. Default: 0.",
} as const satisfies Schema;

/** How instances are created, besides their ids. */
export const TRAITS = {
  params: VALUE,
  labels: LABELS,
  priority: PRIORITY,
  retention: objectOf({ successRetention: DURATION, errorRetention: DURATION }, []),
} as const;

const NEW_INSTANCE = component(
  "NewInstance",
  objectOf(
    {
      id: {
        ...NAME,
        description:
          "Letters, digits and . : _ -, at most 100 unless the application says otherwise, unique within the workflow. Default: one is made.",
      },
      ...TRAITS,
      onConflict: {
        type: "string",
        enum: ["error", "return"],
        description: "What to do if there is an instance of this id: 409, or give that one. Default: error.",
      },
    },
    [],
  ),
);

const CREATED = objectOf({ created: arrayOf(INSTANCE_REFERENCE), errors: arrayOf(BATCH_ERROR) }, ["created", "errors"]);

type NewInstance = FromSchema<typeof NEW_INSTANCE>;

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
  handle: async ({ host, params, body, idempotencyKey, show }) => {
    const workflow = host.workflow(params.workflowName);
    const options = toCreateOptions(body);
    const instance =
      idempotencyKey === null
        ? await workflow.binding.create(options)
        : await createRepeatably(workflow, { id: await idOfKey(idempotencyKey), ...options }, idempotencyKey);
    return { status: 201, body: present(INSTANCE_REFERENCE, instance, show) };
  },
});

export const createBatch = defineRoute({
  method: "POST",
  path: "/workflows/{workflowName}/instances/batch",
  name: "createBatch",
  summary:
    "Creates instances at once, at most 100 unless the application says otherwise, and says what was wrong with any.",
  operation: "create",
  resource: workflowResource,
  params: { workflowName: NAME },
  body: objectOf({ instances: { type: "array", items: NEW_INSTANCE, minItems: 1, maxItems: MOST_IN_BATCH } }, [
    "instances",
  ]),
  repeatable: true,
  answers: { 201: { description: "What was done, in the order of the batch.", schema: CREATED } },
  errors: [404],
  handle: async ({ host, params, body, idempotencyKey, show }) => {
    const workflow = host.workflow(params.workflowName);
    const instances = body.instances.map((one, index) => toCreateOptions(one, `instances[${index}].params`));
    const { maxBatchSize } = workflow.runtime.workflows.settings;
    const places = new Map<unknown, number>(instances.map((options, index) => [options, index]));
    const faults: unknown[] = [];
    const create = async (options: CreateOptions<unknown>) => {
      if (idempotencyKey === null) return workflow.binding.create(options);
      const suffix = `-${places.get(options)}`;
      const id = options.id ?? (await idOfKey(idempotencyKey, suffix));
      return createRepeatably(workflow, { ...options, id }, `${idempotencyKey}${suffix}`);
    };
    const noted = (options: CreateOptions<unknown>) => create(options).catch(note(faults));
    const created = await createEach({ instances }, noted, maxBatchSize);
    if (faults.length > 0) throw faults[0];
    return { status: 201, body: present(CREATED, created, show) };
  },
});

/** Errors that aren't ours to tell, whatever their codes: what a schema of the application's threw may say what nobody should know. */
function note(faults: unknown[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof PerdureError)) faults.push(error);
    throw error;
  };
}

/** What was sent, as `create` takes it. Durations are checked there. */
export function toCreateOptions<Sent extends Pick<NewInstance, "params" | "retention">>(
  { params, retention, ...rest }: Sent,
  label: string = "params",
): Omit<Sent, "params" | "retention"> & Pick<CreateOptions<unknown>, "params" | "retention"> {
  return {
    ...rest,
    ...(params === undefined ? {} : { params: fromWire(params, label) }),
    ...(retention === undefined ? {} : { retention: retention as Record<string, Duration> }),
  };
}
