import type { InstanceOrigin } from "../../workflows/instances/create/create.ts";
import { runScheduleNow } from "../../workflows/schedules/schedule-operations.ts";
import type { HttpResource } from "../access/authorization.ts";
import { present } from "../answers/present.ts";
import { DONE, MAYBE_TIME, NAME } from "../schemas/common-schemas.ts";
import { arrayOf, component, objectOf } from "../schemas/schema.ts";
import { INSTANCE_REFERENCE, workflowResource } from "./instance-schemas.ts";
import { answerOnce, newRefs } from "./repeatable-acts.ts";
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
    destructive: false,
    resource: scheduleResource,
    params: PARAMS,
    repeatable: true,
    answers: DONE,
    errors: [404, 409],
    handle: async ({ host, params: { workflowName, scheduleName }, repeatable }) => {
      const selection = { workflow: workflowName, name: scheduleName };
      await answerOnce(repeatable, async () => {
        await host.schedulesOf(workflowName)[action](selection);
        return null;
      });
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
  destructive: false,
  resource: scheduleResource,
  alsoNeeds: "create",
  alsoAbout: workflowResource,
  params: PARAMS,
  repeatable: true,
  answers: { 201: { description: "It is stored.", schema: INSTANCE_REFERENCE } },
  errors: [404, 409],
  handle: async ({ host, params, repeatable }) => {
    const { workflowName, scheduleName: name } = params;
    const run = async (origin?: InstanceOrigin) => {
      const { id } = await runScheduleNow(
        host.workflow(workflowName).runtime,
        { workflow: workflowName, name },
        origin,
      );
      return { id, workflowName };
    };
    if (repeatable === null) return { status: 201, body: await run() };
    const { hash } = repeatable;
    const body = await repeatable.once({
      ...newRefs(host.workflow(workflowName), 1),
      perform: ([ref], receipts) => run({ parent: `http/${hash}`, ref: ref as string, receipt: receipts() }),
    });
    return { status: 201, body };
  },
});

function scheduleResource(params: { readonly workflowName: string; readonly scheduleName: string }): HttpResource {
  return { kind: "schedule", workflowName: params.workflowName, scheduleName: params.scheduleName };
}
