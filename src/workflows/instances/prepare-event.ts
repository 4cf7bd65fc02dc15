import { InvalidInputError, NotFoundError } from "../../errors.ts";
import { checkId } from "../../names.ts";
import { checkOptions } from "../../options.ts";
import { applySchema, isThenable } from "../../schema.ts";
import type { Awaitable } from "../../store/foreign-transaction.ts";
import type { EventInsert, InstanceTarget } from "../../store/instances/instance-records.ts";
import { encodeValue } from "../../values/index.ts";
import { isRegistered, type RegisteredWorkflow } from "../define/registered-workflows.ts";
import type { AnyWorkflow, WorkflowEvents } from "../define/workflow-types.ts";
import { warnOfReplays } from "../replay-warning.ts";
import type { WorkflowRuntime } from "../workflow-runtime.ts";
import type { EventToSend, SentEvent } from "./instance.ts";

/** Sends an event to an instance of a workflow, which is given as it was defined, or by its name or key. */
export type SendEventTo<Result> = <Workflow extends AnyWorkflow, Type extends keyof WorkflowEvents<Workflow> & string>(
  target: { readonly workflow: Workflow | string; readonly id: string },
  event: EventToSend<Type, WorkflowEvents<Workflow>[Type]>,
) => Result;

/** Sends it through the binding of the workflow. */
export function sendEventTo<Result>(
  runtime: WorkflowRuntime | null,
  bindings: object,
  target: { readonly workflow: unknown; readonly id: string },
  event: SentEvent<string, unknown>,
): Result {
  if (runtime === null) throw new NotFoundError("workflow.not_found", "The application has no workflows.");
  const { key } = runtime.workflows.get(target?.workflow);
  const binding = (bindings as Record<string, { sendEvent(addressed: unknown): Result }>)[key];
  return (binding as NonNullable<typeof binding>).sendEvent({ ...event, to: target.id });
}

/** The recipient of an event, and the event without it. */
export function splitAddressed<Event extends { readonly to: string }>(addressed: Event): [string, Omit<Event, "to">] {
  checkOptions(addressed, { label: "sendEvent", fields: ["to", "type", "payload", "id"], code: "event.invalid" });
  const { to, ...event } = addressed;
  return [to, event];
}

/**
 * Checks an event, and gives what to store. A promise only if its schema is asynchronous. Warns if a replay would send it
 * again.
 */
export function prepareEvent(
  runtime: WorkflowRuntime,
  workflow: RegisteredWorkflow,
  instance: InstanceTarget,
  event: SentEvent<string, unknown>,
): Awaitable<EventInsert & { readonly maxPending: number }> {
  checkOptions(event, { label: "An event", fields: ["type", "payload", "id"], code: "event.invalid" });
  const { maxEventType, maxEventBytes, maxPendingEvents: maxPending } = runtime.workflows.settings;
  const type = checkId(event.type, "The type of an event", maxEventType);
  const eventId = event.id === undefined ? runtime.store.createId() : `own:${checkId(event.id, "The id of an event")}`;
  const schema = schemaOf(workflow, type);
  warnOfReplays(runtime.store, { eventType: type, receivingWorkflow: workflow.name }, event.id);
  const payload = applySchema(schema, event.payload, `The payload of the event "${type}"`, "event.invalid");
  const toInsert = (value: unknown) => {
    const encoded = encodeValue(value, { label: "payload", maxBytes: maxEventBytes });
    return { ...instance, eventId, type, payload: encoded, maxPending };
  };
  return schema !== null && isThenable(payload) ? payload.then(toInsert) : toInsert(payload);
}

/**
 * The newest version that takes the event has its schema: an event may be for an instance of any version. Without code, an
 * operator's event is stored as it is.
 */
function schemaOf(workflow: RegisteredWorkflow, type: string) {
  const { name, versions } = workflow;
  if (!isRegistered(workflow)) return null;
  const declared = versions.map(({ definition }) => definition?.events ?? null);
  const takes = declared.find((events) => events === null || events.has(type));
  if (takes !== undefined) return takes?.get(type) ?? null;
  const known = [...new Set(declared.flatMap((events) => [...(events?.keys() ?? [])]))].join(", ");
  throw new InvalidInputError("event.invalid", `The workflow "${name}" takes no event "${type}"; it takes ${known}.`);
}
