import type { Duration } from "../../duration.ts";
import { PerdureError } from "../../errors.ts";
import { MOST_IN_BATCH } from "../../workflows/define/workflow-settings.ts";
import { createIndependently } from "../../workflows/instances/create/batches.ts";
import type { CreateOptions } from "../../workflows/instances/create/create-options.ts";
import type { WorkflowInstance } from "../../workflows/instances/instance.ts";
import { requestedInstance } from "../access/request-details.ts";
import { present } from "../answers/present.ts";
import { idOfKey } from "../requests/repeatable-request.ts";
import { LABELS, NAME, VALUE } from "../schemas/common-schemas.ts";
import { arrayOf, component, type FromSchema, objectOf, type Schema } from "../schemas/schema.ts";
import { fromWire } from "../wire-values.ts";
import { BATCH_ERROR, INSTANCE_REFERENCE, workflowResource } from "./instance-schemas.ts";
import { createRepeatably, createWithin, newRefs } from "./repeatable-acts.ts";
import { defineRoute } from "./route.ts";

const DURATION = {
  anyOf: [{ type: "integer", minimum: 0 }, NAME],
  description: 'Milliseconds, or a text such as "30 days".',
} as const satisfies Schema;

const PRIORITY = {
  type: "integer",
  minimum: -100,
  maximum: 100,
  description: "Instances with a higher priority start first. Default: 0.",
} as const satisfies Schema;

/** The options of a create, except the id. */
export const TRAITS = {
  params: VALUE,
  labels: LABELS,
  priority: PRIORITY,
  retention: objectOf({ successRetention: DURATION, errorRetention: DURATION }, []),
  timeout: {
    ...DURATION,
    description: "How long a run may take, before it ends as errored. Default: as its workflow says.",
  },
  locationHint: { ...NAME, description: "Accepted for compatibility with Cloudflare; it has no effect." },
} as const;

const NEW_INSTANCE = component(
  "NewInstance",
  objectOf(
    {
      id: {
        ...NAME,
        description:
          "Letters, digits and . : _ -, unique within the workflow. At most 100 characters, unless the application sets limits.instanceIdLength. Default: a new id.",
      },
      ...TRAITS,
      onConflict: {
        type: "string",
        enum: ["error", "return"],
        description: "If an instance has this id: answer 409, or return that instance. Default: error.",
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
  destructive: false,
  resource: workflowResource,
  params: { workflowName: NAME },
  body: NEW_INSTANCE,
  bodyOptional: true,
  repeatable: true,
  answers: { 201: { description: "It is stored.", schema: INSTANCE_REFERENCE } },
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  details: ({ body }) => ({ instances: [requestedInstance(body.id, body)] }),
  handle: async ({ host, params: { workflowName }, body, repeatable, scope, show }) => {
    const workflow = host.workflow(workflowName);
    const options = toCreateOptions(body);
    const place = { host, scope, workflowName };
    const reference = (instance: unknown) => present(INSTANCE_REFERENCE, instance, show);
    if (repeatable === null) {
      const created = await createWithin(place, options, (one) => workflow.binding.create(one));
      return { status: 201, body: reference(created) };
    }
    const created = await repeatable.once({
      ...newRefs(workflow, 1),
      perform: async ([ref], receipts) => {
        const named = { id: idOfKey(repeatable.hash), ...options };
        const identity = { hash: repeatable.hash, ref: ref as string, receipt: receipts() };
        return reference(await createWithin(place, named, (one) => createRepeatably(workflow, one, identity)));
      },
    });
    return { status: 201, body: created };
  },
});

export const createBatch = defineRoute({
  method: "POST",
  path: "/workflows/{workflowName}/instances/batch",
  name: "createBatch",
  summary: `Creates instances in one request, and reports an error for each that was refused. At most 100, or as many as the application's limits.batchSize, up to ${MOST_IN_BATCH}.`,
  operation: "create",
  destructive: false,
  resource: workflowResource,
  params: { workflowName: NAME },
  body: objectOf({ instances: { type: "array", items: NEW_INSTANCE, minItems: 1, maxItems: MOST_IN_BATCH } }, [
    "instances",
  ]),
  repeatable: true,
  answers: {
    201: { description: "The created instances and the errors, in the order of the batch.", schema: CREATED },
  },
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  details: ({ body }) => ({ instances: body.instances.map((one) => requestedInstance(one.id, one)) }),
  handle: async ({ host, params: { workflowName }, body, repeatable, scope, show }) => {
    const workflow = host.workflow(workflowName);
    const place = { host, scope, workflowName };
    const instances = body.instances.map((one, index) => toCreateOptions(one, `instances[${index}].params`));
    const { maxBatchSize } = workflow.runtime.workflows.settings;
    const places = new Map<unknown, number>(instances.map((options, index) => [options, index]));
    const createAll = async (create: Create) => {
      const faults: unknown[] = [];
      const noted = (options: CreateOptions<unknown>) => create(options).catch(note(faults));
      const created = await createIndependently({ instances }, noted, maxBatchSize);
      if (faults.length > 0) throw faults[0];
      return present(CREATED, created, show) as FromSchema<typeof CREATED>;
    };
    if (repeatable === null) {
      const create: Create = (options) => createWithin(place, options, (one) => workflow.binding.create(one));
      return { status: 201, body: await createAll(create) };
    }
    const { hash } = repeatable;
    let told: FromSchema<typeof CREATED> | undefined;
    const kept = await repeatable.once({
      ...newRefs(workflow, instances.length),
      perform: async (refs, receipts) => {
        told = await createAll((options) => {
          const index = places.get(options) as number;
          const named = { ...options, id: options.id ?? idOfKey(hash, `-${index}`) };
          const identity = { hash: `${hash}-${index}`, ref: refs[index] as string, receipt: receipts(index) };
          return createWithin(place, named, (one) => createRepeatably(workflow, one, identity));
        });
        // Messages may contain users' values, and would be stored unencrypted.
        return { ...told, errors: told.errors.map((error) => ({ ...error, message: NO_MESSAGE })) };
      },
    });
    return { status: 201, body: told ?? kept };
  },
});

type Create = (options: CreateOptions<unknown>) => Promise<WorkflowInstance>;

const NO_MESSAGE = "It was refused when the request was first sent; only the code is remembered.";

/** Notes errors that callers may not see: one that the application's schema threw may contain private data. */
function note(faults: unknown[]): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof PerdureError)) faults.push(error);
    throw error;
  };
}

/** The sent options as `create` takes them. It checks the durations. */
export function toCreateOptions<Sent extends Pick<NewInstance, "params" | "retention" | "timeout">>(
  { params, retention, timeout, ...rest }: Sent,
  label: string = "params",
): Omit<Sent, "params" | "retention" | "timeout"> & Pick<CreateOptions<unknown>, "params" | "retention" | "timeout"> {
  return {
    ...rest,
    ...(params === undefined ? {} : { params: fromWire(params, label) }),
    ...(retention === undefined ? {} : { retention: retention as Record<string, Duration> }),
    ...(timeout === undefined ? {} : { timeout: timeout as Duration }),
  };
}
