import { present } from "../present.ts";
import { defineRoute } from "../route.ts";
import { objectOf } from "../schema.ts";
import { DONE, NAME } from "../schemas.ts";
import { INSTANCE, INSTANCE_PARAMS, INSTANCE_PATH, instanceResource } from "./instance-schemas.ts";

export const getInstance = defineRoute({
  method: "GET",
  path: INSTANCE_PATH,
  name: "getInstance",
  summary: "The state of an instance.",
  operation: "read",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: { 200: { description: "As it is now.", schema: INSTANCE } },
  errors: [404],
  handle: async ({ host, params, show }) => {
    const instance = host.instance(params);
    const { id, workflowName } = instance;
    return { status: 200, body: present(INSTANCE, { id, workflowName, ...(await instance.status()) }, show) };
  },
});

export const deleteInstance = defineRoute({
  method: "DELETE",
  path: INSTANCE_PATH,
  name: "deleteInstance",
  summary: "Deletes an instance with its history, whatever its state.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: DONE,
  errors: [404],
  handle: async ({ host, params }) => {
    await host.instance(params).delete();
    return { status: 204 };
  },
});

export const pauseInstance = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/pause`,
  name: "pauseInstance",
  summary: "Lets running steps end and begins no others.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: DONE,
  errors: [404, 409],
  handle: async ({ host, params }) => {
    await host.instance(params).pause();
    return { status: 204 };
  },
});

export const resumeInstance = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/resume`,
  name: "resumeInstance",
  summary: "Goes on with a paused instance. Does nothing where it isn't paused.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: DONE,
  errors: [404, 409],
  handle: async ({ host, params }) => {
    await host.instance(params).resume();
    return { status: 204 };
  },
});

export const terminateInstance = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/terminate`,
  name: "terminateInstance",
  summary: "Ends an instance, and takes its steps back first where that is wanted.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  body: objectOf(
    { rollback: { type: "boolean", description: "Steps that have a rollback are taken back. Default: no." } },
    [],
  ),
  bodyOptional: true,
  answers: DONE,
  errors: [404, 409],
  handle: async ({ host, params, body }) => {
    await host.instance(params).terminate(body);
    return { status: 204 };
  },
});

const RESTART_POINT = objectOf(
  {
    name: { ...NAME, description: "Of a step that has run." },
    count: { type: "integer", minimum: 1, description: "Which call of that name. Default: 1." },
    type: { type: "string", enum: ["do", "sleep", "waitForEvent"] },
  },
  ["name"],
);

export const restartInstance = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/restart`,
  name: "restartInstance",
  summary:
    "Begins anew with the same params, whatever its state; with `from`, what had ended before that step keeps its results.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  body: objectOf({ from: RESTART_POINT }, []),
  bodyOptional: true,
  answers: DONE,
  errors: [404],
  handle: async ({ host, params, body }) => {
    await host.instance(params).restart(body);
    return { status: 204 };
  },
});

export const retryInstance = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/retry`,
  name: "retryInstance",
  summary: "Of an errored instance, tries the steps again whose errors ended it; all others keep their results.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: DONE,
  errors: [404, 409],
  handle: async ({ host, params }) => {
    await host.instance(params).retryFailedStep();
    return { status: 204 };
  },
});
