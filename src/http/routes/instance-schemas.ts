import { INSTANCE_STATUSES } from "../../store/instances/instance-records.ts";
import type { HttpResource } from "../access/authorization.ts";
import { FAILURE, LABELS, MAYBE_TIME, NAME, TIME, UNREADABLE, VALUE } from "../schemas/common-schemas.ts";
import { arrayOf, component, nullable, objectOf, type Schema } from "../schemas/schema.ts";

export const STATUS = { type: "string", enum: INSTANCE_STATUSES } as const satisfies Schema;

/** Of an instance or a run. */
export const VERSION = {
  type: "integer",
  description: "The version of the workflow; absent without.",
} as const satisfies Schema;

/** Of a run. */
export const ROLLBACK = {
  ...objectOf({ outcome: { type: "string", enum: ["complete", "failed"] }, error: FAILURE }, ["outcome"]),
  description: "The outcome of its rollback; absent if nothing was rolled back.",
} as const satisfies Schema;

const LIMIT = objectOf({ key: { type: "string" }, limit: nullable({ type: "integer" }) }, ["key", "limit"]);

const INSTANCE_SHAPE = {
  type: "object",
  properties: {
    id: { type: "string" },
    workflowName: { type: "string" },
    status: STATUS,
    output: VALUE,
    error: FAILURE,
    rollback: ROLLBACK,
    version: VERSION,
    run: { type: "integer", description: "Counted from 1; a restart begins the next." },
    parent: {
      ...objectOf({ workflowName: { type: "string" }, id: { type: "string" } }, ["workflowName", "id"]),
      description: "The instance whose step created it; absent if a caller did.",
    },
    schedule: {
      ...objectOf({ cron: { type: "string" }, scheduledTime: TIME }, ["cron", "scheduledTime"]),
      description: "The schedule that created it; absent if none did.",
    },
    priority: { type: "integer", description: "Absent if it is 0." },
    limits: {
      ...objectOf({ concurrency: LIMIT, rateLimit: LIMIT }, []),
      description: "The keys of the limits that it shares with others; null is a limit that only code elsewhere knows.",
    },
    labels: LABELS,
    createdAt: TIME,
    startedAt: MAYBE_TIME,
    finishedAt: MAYBE_TIME,
    diverged: FAILURE,
    unreadable: UNREADABLE,
  },
  required: ["id", "workflowName", "status", "run", "createdAt", "startedAt", "finishedAt"],
  additionalProperties: false,
} as const;

export const INSTANCE = component("Instance", INSTANCE_SHAPE);

const UNRECEIVED_EVENT = component(
  "UnreceivedEvent",
  objectOf(
    {
      type: { type: "string" },
      at: TIME,
      payload: VALUE,
      omitted: {
        type: "boolean",
        description: "Present in place of the payload, if the payloads are larger than 1 MiB together.",
      },
      unreadable: UNREADABLE,
    },
    ["type", "at"],
  ),
);

export const INSTANCE_DETAILS = component("InstanceDetails", {
  ...INSTANCE_SHAPE,
  properties: {
    ...INSTANCE_SHAPE.properties,
    params: VALUE,
    unreceivedCount: { type: "integer", description: "The number of events that no step has received yet." },
    unreceivedEvents: { ...arrayOf(UNRECEIVED_EVENT), description: "The oldest of them, at most 100." },
  },
});

/** Why an instance of a batch wasn't created or deleted. */
export const BATCH_ERROR = component(
  "BatchError",
  objectOf(
    {
      index: { type: "integer", description: "Its index in the batch, counted from 0." },
      id: { type: "string" },
      code: { type: "string" },
      message: { type: "string" },
    },
    ["index", "code", "message"],
  ),
);

/** An instance that was created. */
export const INSTANCE_REFERENCE = component(
  "InstanceReference",
  objectOf({ id: { type: "string" }, workflowName: { type: "string" } }, ["id", "workflowName"]),
);

export const INSTANCE_PARAMS = { workflowName: NAME, instanceId: NAME } as const;
export const INSTANCE_PATH = "/workflows/{workflowName}/instances/{instanceId}";

export function instanceResource(params: { readonly workflowName: string; readonly instanceId: string }): HttpResource {
  return { kind: "instance", workflowName: params.workflowName, instanceId: params.instanceId };
}

export function workflowResource({ workflowName }: { readonly workflowName: string }): HttpResource {
  return { kind: "workflow", workflowName };
}
