import { present } from "../present.ts";
import { defineRoute } from "../route.ts";
import { DONE } from "../schemas.ts";
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
  summary: "Ends an instance.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: DONE,
  errors: [404, 409],
  handle: async ({ host, params }) => {
    await host.instance(params).terminate();
    return { status: 204 };
  },
});

export const restartInstance = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/restart`,
  name: "restartInstance",
  summary: "Begins anew with the same params, whatever its state. Earlier runs stay in the history.",
  operation: "manage",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  answers: DONE,
  errors: [404],
  handle: async ({ host, params }) => {
    await host.instance(params).restart();
    return { status: 204 };
  },
});
