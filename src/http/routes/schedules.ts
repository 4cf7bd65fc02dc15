import type { HttpResource } from "../access/authorization.ts";
import { present } from "../answers/present.ts";
import { DONE, MAYBE_TIME, NAME } from "../schemas/common-schemas.ts";
import { arrayOf, component, objectOf } from "../schemas/schema.ts";
import { INSTANCE_REFERENCE, workflowResource } from "./instance-schemas.ts";
import { defineRoute, type Route } from "./route.ts";

const PARAMS = { workflowName: NAME, scheduleName: NAME } as const;
const PATH = "/schedules/{workflowName}/{scheduleName}";

const SCHEDULE = component(
  "Schedule",
  objectOf(
    {
      workflowName: { type: "string" },
      name: { type: "string" },
      cron: { type: "string" },
      timezone: { type: "string" },
      paused: { type: "boolean" },
      nextAt: { ...MAYBE_TIME, description: "When it fires next; null while it is paused." },
      lastAt: { ...MAYBE_TIME, description: "The last of its times for which it fired." },
      inCode: { type: "boolean", description: "Whether the answering process has it in its code." },
    },
    ["workflowName", "name", "cron", "timezone", "paused", "nextAt", "lastAt", "inCode"],
  ),
);

const SCHEDULES = objectOf({ schedules: arrayOf(SCHEDULE) }, ["schedules"]);

export const listSchedules = defineRoute({
  method: "GET",
  path: "/schedules",
  name: "listSchedules",
  summary: "All schedules of workflows.",
  operation: "read",
  resource: () => ({ kind: "schedules" }),
  answers: {
    200: { description: "All of them.", schema: SCHEDULES },
  },
  handle: async ({ host, show }) => ({
    status: 200,
    body: present(SCHEDULES, { schedules: await host.schedules() }, show),
  }),
});

/** Pausing and resuming. */
function defineSwitch(action: "pause" | "resume", name: string, summary: string): Route {
  return defineRoute({
    method: "POST",
    path: `${PATH}/${action}`,
    name,
    summary,
    operation: "operate",
    resource: scheduleResource,
    params: PARAMS,
    answers: DONE,
    errors: [404],
    handle: async ({ host, params: { workflowName, scheduleName } }) => {
      await host.schedulesOf(workflowName)[action]({ workflow: workflowName, name: scheduleName });
      return { status: 204 };
    },
  });
}

export const pauseSchedule = defineSwitch(
  "pause",
  "pauseSchedule",
  "Pauses a schedule. Times that pass before it is resumed are skipped.",
);

export const resumeSchedule = defineSwitch(
  "resume",
  "resumeSchedule",
  "Resumes a schedule with its next time from now.",
);

export const runSchedule = defineRoute({
  method: "POST",
  path: `${PATH}/run`,
  name: "runSchedule",
  summary: "Creates an instance now, as the schedule would. The schedule's own times don't change.",
  operation: "operate",
  resource: scheduleResource,
  alsoNeeds: "create",
  alsoAbout: workflowResource,
  params: PARAMS,
  answers: { 201: { description: "It is stored.", schema: INSTANCE_REFERENCE } },
  errors: [404],
  handle: async ({ host, params }) => {
    const { workflowName, scheduleName } = params;
    const { id } = await host.schedulesOf(workflowName).runNow({ workflow: workflowName, name: scheduleName });
    return { status: 201, body: { id, workflowName } };
  },
});

function scheduleResource(params: { readonly workflowName: string; readonly scheduleName: string }): HttpResource {
  return { kind: "schedule", workflowName: params.workflowName, scheduleName: params.scheduleName };
}
