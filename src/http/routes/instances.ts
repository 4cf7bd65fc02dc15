import type { InstanceHandle } from "../../workflows/instances/instance-handle.ts";
import { hideParents } from "../access/related-instances.ts";
import type { Scope } from "../access/scope.ts";
import { present } from "../answers/present.ts";
import { DONE, NAME } from "../schemas/common-schemas.ts";
import { type FromSchema, objectOf, type Schema } from "../schemas/schema.ts";
import { INSTANCE, INSTANCE_DETAILS, INSTANCE_PARAMS, INSTANCE_PATH, instanceResource } from "./instance-schemas.ts";
import { actOnce } from "./repeatable-acts.ts";
import { defineRoute, type Route } from "./route.ts";

export const getInstance = defineRoute({
  method: "GET",
  path: INSTANCE_PATH,
  name: "getInstance",
  summary: "The state of an instance, with its params and the events that it hasn't received.",
  operation: "read",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  query: { details: { type: "boolean", description: "Whether to add its params and events. Default: true." } },
  answers: { 200: { description: "As it is now.", schema: INSTANCE_DETAILS } },
  errors: [404],
  forNarrowed: "onlyTheirs",
  handle: async ({ host, params, query: { details = true }, scope, show }) => {
    const instance = host.instance(params, scope);
    const { id, workflowName } = instance;
    const [state] = await hideParents(host, scope, [await instance.status()]);
    const shown = { id, workflowName, ...state };
    if (!details) return { status: 200, body: present(INSTANCE, shown, show) };
    const { count: unreceivedCount, events: unreceivedEvents } = await instance.unreceivedEvents();
    const body = present(INSTANCE_DETAILS, { ...shown, unreceivedCount, unreceivedEvents }, show);
    return { status: 200, body };
  },
});

export const deleteInstance = defineRoute({
  method: "DELETE",
  path: INSTANCE_PATH,
  name: "deleteInstance",
  summary: "Deletes an instance with its history, in any state.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  repeatable: true,
  forNarrowed: "onlyTheirs",
  answers: DONE,
  errors: [404, 409],
  handle: async (call) => {
    await actOnce(call, (instance) => instance.delete());
    return { status: 204 };
  },
});

/** An action on an instance that is answered without a body. */
function defineAction<const Body extends Schema = Record<never, never>>(action: {
  readonly path: string;
  readonly name: string;
  readonly summary: string;
  readonly body?: Body;
  readonly errors: readonly number[];
  /** Whether an `Idempotency-Key` makes it repeatable. */
  readonly repeatable?: boolean;
  readonly destructive?: false;
  act(instance: InstanceHandle, body: FromSchema<Body>, scope: Scope): Promise<void>;
}): Route {
  const { path, act, ...rest } = action;
  return defineRoute({
    ...rest,
    method: "POST",
    path: `${INSTANCE_PATH}/${path}`,
    operation: "manage",
    resource: instanceResource,
    params: INSTANCE_PARAMS,
    bodyOptional: true,
    forNarrowed: "onlyTheirs",
    answers: DONE,
    handle: async (call) => {
      await actOnce(call, (instance) => act(instance, call.body, call.scope));
      return { status: 204 };
    },
  });
}

export const pauseInstance = defineAction({
  path: "pause",
  name: "pauseInstance",
  summary: "Pauses an instance: running steps end, and no others begin.",
  body: objectOf(
    {
      by: {
        type: "string",
        minLength: 1,
        maxLength: 255,
        description: "Who pauses it, unless the policy names the caller.",
      },
    },
    [],
  ),
  destructive: false,
  repeatable: true,
  errors: [404, 409],
  act: (instance, body, { actor }) => instance.pause(actor === null ? body : { by: actor }),
});

export const resumeInstance = defineAction({
  path: "resume",
  name: "resumeInstance",
  summary: "Resumes a paused instance. Does nothing if it isn't paused.",
  destructive: false,
  repeatable: true,
  errors: [404, 409],
  act: (instance) => instance.resume(),
});

export const terminateInstance = defineAction({
  path: "terminate",
  name: "terminateInstance",
  summary: "Ends an instance, and can roll its steps back first.",
  body: objectOf(
    { rollback: { type: "boolean", description: "Whether to run the rollbacks of its steps. Default: false." } },
    [],
  ),
  repeatable: true,
  errors: [404, 409],
  act: (instance, body) => instance.terminate(body),
});

const RESTART_POINT = objectOf(
  {
    name: { ...NAME, description: "The name of a step that has run." },
    count: { type: "integer", minimum: 1, description: "Which call of that name. Default: 1." },
    type: { type: "string", enum: ["do", "sleep", "waitForEvent", "result"] },
  },
  ["name"],
);

export const restartInstance = defineAction({
  path: "restart",
  name: "restartInstance",
  summary:
    "Restarts an instance with the same params, in any state. With `from`, steps that ended before that step keep their results.",
  body: objectOf(
    {
      from: RESTART_POINT,
      version: {
        type: "string",
        enum: ["newest"],
        description: "Runs the newest version. Default: it keeps its version.",
      },
    },
    [],
  ),
  repeatable: true,
  errors: [404, 409],
  act: (instance, body) => instance.restart(body),
});

export const retryInstance = defineAction({
  path: "retry",
  name: "retryInstance",
  summary: "Retries the steps whose errors ended an errored instance; all others keep their results.",
  destructive: false,
  repeatable: true,
  errors: [404, 409],
  act: (instance) => instance.retryFailedStep(),
});
