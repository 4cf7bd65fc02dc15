import { InvalidInputError } from "../../errors.ts";
import { checkOptions } from "../../options.ts";
import type { InstanceRecord } from "../../store/instances/instance-records.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import {
  runOf,
  type SubscribeOptions,
  type WorkflowInstanceEventType,
  type WorkflowInstanceSubscription,
} from "./instance-event.ts";
import { Subscription } from "./subscription.ts";

const TYPES: Readonly<Record<WorkflowInstanceEventType, true>> = {
  workflow_queued: true,
  workflow_started: true,
  workflow_running: true,
  workflow_paused: true,
  workflow_waiting_for_pause: true,
  workflow_waiting: true,
  workflow_completed: true,
  workflow_errored: true,
  workflow_terminated: true,
  step_started: true,
  step_completed: true,
  step_errored: true,
  step_progress: true,
  attempt_started: true,
  attempt_completed: true,
  attempt_errored: true,
  sleep_started: true,
  sleep_completed: true,
  sleep_abandoned: true,
  wait_started: true,
  wait_completed: true,
  wait_timed_out: true,
  wait_abandoned: true,
  rollback_started: true,
  rollback_step_started: true,
  rollback_step_completed: true,
  rollback_step_errored: true,
  rollback_attempt_started: true,
  rollback_attempt_completed: true,
  rollback_attempt_errored: true,
  rollback_completed: true,
  rollback_errored: true,
};

export const EVENT_TYPES: readonly WorkflowInstanceEventType[] = Object.keys(TYPES) as WorkflowInstanceEventType[];

/** The event types without a filter. */
const STANDARD: ReadonlySet<string> = new Set(EVENT_TYPES.filter((type) => type !== "step_progress"));

export interface ParsedSubscription {
  readonly cursor: number | null;
  readonly filter: ReadonlySet<string>;
}

export function parseSubscribeOptions(options: SubscribeOptions): ParsedSubscription {
  checkOptions(options, { label: "subscribe", fields: ["cursor", "filter"] });
  const { cursor, filter } = options;
  if (cursor !== undefined && !(Number.isSafeInteger(cursor) && cursor >= 0)) throw invalidCursor();
  if (filter === undefined) return { cursor: cursor ?? null, filter: STANDARD };
  const unknown: unknown = Array.isArray(filter) ? filter.find((type) => !isType(type)) : filter;
  if (unknown !== undefined || filter.length === 0) {
    const accepted = Object.keys(TYPES).join(", ");
    throw new InvalidInputError("options.invalid", `filter must be an array of types of events: ${accepted}.`);
  }
  return { cursor: cursor ?? null, filter: new Set(filter) };
}

export function subscribe(
  runtime: WorkflowRuntime,
  record: InstanceRecord,
  { cursor, filter }: ParsedSubscription,
): WorkflowInstanceSubscription {
  const run = cursor === null ? record.run : runOf(cursor);
  if (run > record.run) throw invalidCursor();
  const { namespace, name, id, ref } = record;
  return new Subscription(runtime, { namespace, name, id, ref }, { run, cursor: cursor ?? 0, filter });
}

function isType(type: unknown): boolean {
  return typeof type === "string" && Object.hasOwn(TYPES, type);
}

function invalidCursor(): InvalidInputError {
  return new InvalidInputError("cursor.invalid", "The cursor must be the eventId of an event of this instance.");
}
