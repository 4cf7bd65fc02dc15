import { createOrSend as createOrSendOf } from "../../workflows/instances/create/create-or-send.ts";
import type { SentEvent } from "../../workflows/instances/instance.ts";
import { sendToBatch } from "../../workflows/instances/send-to-all.ts";
import { requestedEvent, requestedInstance } from "../access/request-details.ts";
import { present } from "../answers/present.ts";
import { idOfKey, type Receipts, type RepeatableRequest } from "../requests/repeatable-request.ts";
import { DONE, LABELS, NAME, VALUE } from "../schemas/common-schemas.ts";
import { type FromSchema, objectOf } from "../schemas/schema.ts";
import { fromWire } from "../wire-values.ts";
import { TRAITS, toCreateOptions } from "./create-instances.ts";
import { INSTANCE_PARAMS, INSTANCE_PATH, instanceResource, workflowResource } from "./instance-schemas.ts";
import { actOnce } from "./repeatable-acts.ts";
import { defineRoute } from "./route.ts";

const EVENT_FIELDS = {
  type: NAME,
  payload: VALUE,
  id: { ...NAME, description: "An event with an id of your own is delivered once, however often it is sent." },
} as const;

const EVENT = objectOf(EVENT_FIELDS, ["type"]);

/** The sent event. In a repeatable request, it has an id of its own. */
function toEvent(
  { type, payload, id: own }: FromSchema<typeof EVENT>,
  repeatable: RepeatableRequest | null,
  label: string = "payload",
): SentEvent<string, unknown> {
  const id = own ?? (repeatable === null ? undefined : idOfKey(repeatable.hash));
  return {
    type,
    ...(id === undefined ? {} : { id }),
    ...(payload === undefined ? {} : { payload: fromWire(payload, label) }),
  };
}

export const sendEvent = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/events`,
  name: "sendEvent",
  summary: "Sends an event, whether or not a step waits for it yet.",
  operation: "events",
  destructive: false,
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  body: EVENT,
  repeatable: true,
  answers: DONE,
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  details: ({ body }) => ({ event: requestedEvent(body) }),
  handle: async (call) => {
    const event = toEvent(call.body, call.repeatable);
    await actOnce(call, (instance) => instance.sendEvent(event));
    return { status: 204 };
  },
});

const CREATED_OR_SENT = objectOf(
  {
    id: { type: "string" },
    workflowName: { type: "string" },
    outcome: { type: "string", enum: ["created", "sent"] },
  },
  ["id", "workflowName", "outcome"],
);

export const createOrSend = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/create-or-send`,
  name: "createOrSend",
  summary: "Sends an event to an instance, and creates the instance with it if there is none.",
  operation: "events",
  destructive: false,
  alsoNeeds: "create",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  body: objectOf({ ...TRAITS, event: EVENT }, ["event"]),
  repeatable: true,
  answers: { 200: { description: "What was done.", schema: CREATED_OR_SENT } },
  errors: [404, 409],
  forNarrowed: "onlyTheirs",
  details: ({ params, body }) => ({
    instances: [requestedInstance(params.instanceId, body)],
    event: requestedEvent(body.event),
  }),
  handle: async ({ host, params, body, repeatable, scope, show }) => {
    const { workflowName, instanceId: id } = params;
    const { runtime, registered } = host.workflow(workflowName);
    const { event, ...create } = body;
    const labels = scope.narrowed ? { labels: scope.labelsOfNew(body.labels) } : {};
    const findOwn = scope.narrowed ? () => host.findOwn(params, scope) : undefined;
    const options = { ...toCreateOptions(create), ...labels, id, event: toEvent(event, repeatable, "event.payload") };
    const perform = async (receipts?: Receipts) => {
      const receiptOf = receipts && ((outcome: string) => receipts(0, outcome));
      const { outcome } = await createOrSendOf(runtime, registered, options, receiptOf, findOwn);
      return present(CREATED_OR_SENT, { id, workflowName, outcome }, show);
    };
    const find = async () => ({}); // it gets the event whether or not it exists
    const answer =
      repeatable === null
        ? await perform()
        : await repeatable.once({ find, perform: (_, receipts) => perform(receipts), refuse: () => perform() });
    return { status: 200, body: answer };
  },
});

const SENT_BATCH = objectOf(
  {
    sent: { type: "integer", description: "How many instances of this batch have the event." },
    full: { type: "integer", description: "How many take no more events until they have received some." },
    cursor: { anyOf: [{ type: "string" }, { type: "null" }], description: "For the next batch; null after the last." },
  },
  ["sent", "full", "cursor"],
);

export const sendEventToAll = defineRoute({
  method: "POST",
  path: "/workflows/{workflowName}/events",
  name: "sendEventToAll",
  summary:
    "Sends an event to the unfinished instances that have all of these labels, up to 100 in one request. Send it again with the cursor until that is null, with the same id.",
  operation: "events",
  destructive: false,
  resource: workflowResource,
  params: { workflowName: NAME },
  body: objectOf({ ...EVENT_FIELDS, labels: LABELS, cursor: { type: "string", maxLength: 2000 } }, ["type", "labels"]),
  repeatable: true,
  answers: { 200: { description: "What was done.", schema: SENT_BATCH } },
  forNarrowed: "onlyTheirs",
  details: ({ body }) => ({ filter: { labels: body.labels }, event: requestedEvent(body) }),
  handle: async ({ host, params, body, repeatable, scope, show }) => {
    const { runtime, stored } = host.storedWorkflow(params.workflowName);
    const { labels: given, cursor = null, ...event } = body;
    const labels = scope.filter(given);
    if (labels === null) return { status: 200, body: { sent: 0, full: 0, cursor: null } };
    const sent = { ...toEvent(event, repeatable), labels };
    const perform = async () => present(SENT_BATCH, await sendToBatch(runtime, stored, sent, cursor), show);
    const find = async () => ({});
    const answer = repeatable === null ? await perform() : await repeatable.once({ find, perform, refuse: perform });
    return { status: 200, body: answer };
  },
});
