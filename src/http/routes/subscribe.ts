import type { WorkflowInstanceEvent, WorkflowInstanceSubscription } from "../../workflows/views/instance-event.ts";
import { EVENT_TYPES } from "../../workflows/views/subscribe.ts";
import type { EventSubscription, StreamEvent } from "../answers/event-stream.ts";
import { invalidRequest } from "../answers/http-error.ts";
import { failure } from "../answers/present.ts";
import type { ShowValue, ValueField } from "../answers/redaction.ts";
import { component, type Schema } from "../schemas/schema.ts";
import { INSTANCE_PARAMS, INSTANCE_PATH, instanceResource } from "./instance-schemas.ts";
import { defineRoute } from "./route.ts";

const EVENT_ID = { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const satisfies Schema;
const WHOLE_NUMBER = /^\d{1,16}$/;

const EVENT = component("InstanceEvent", {
  type: "object",
  description: "The data of each event, as JSON. Its id is the eventId, and its event the type.",
  properties: {
    instanceId: { type: "string" },
    eventId: EVENT_ID,
    timestamp: { type: "integer", description: "In milliseconds since the epoch." },
    run: { type: "integer" },
    type: { type: "string", enum: EVENT_TYPES },
  },
  required: ["instanceId", "eventId", "timestamp", "run", "type"],
});

/** The fields of an event that contain users' values. */
const VALUES: ReadonlyMap<string, ValueField> = new Map([
  ["params", "params"],
  ["output", "output"],
  ["value", "progress"],
]);

export const subscribe = defineRoute({
  method: "GET",
  path: `${INSTANCE_PATH}/subscribe`,
  name: "subscribe",
  summary: "The events of an instance as they happen, as Server-Sent Events that end with its run.",
  operation: "read",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  query: {
    cursor: {
      ...EVENT_ID,
      description: "The id of the last event that you have received. Default: the present run from its beginning.",
    },
    filter: {
      type: "array",
      items: { type: "string", enum: EVENT_TYPES },
      description: "Only these types; may be repeated.",
    },
  },
  headers: {
    "Last-Event-ID": {
      ...EVENT_ID,
      description: "Sent by browsers when they reconnect. It takes precedence over the cursor.",
    },
  },
  answers: {
    200: { description: "A stream.", schema: EVENT, contentType: "text/event-stream" },
    204: { description: "There are no more events: browsers don't reconnect." },
  },
  errors: [404],
  forNarrowed: "onlyTheirs",
  handle: async ({ host, params, query, request, scope, access, show }) => {
    const instance = host.instance(params, scope);
    const cursor = readLastEventId(request.headers) ?? query.cursor;
    const options = {
      ...(cursor === undefined ? {} : { cursor }),
      ...(query.filter === undefined ? {} : { filter: query.filter }),
    };
    const isSeen = async () => !scope.narrowed || (await host.findRuns([params], scope))[0] !== null;
    const stillAllowed = async () => (await access.stillAllowed()) && (await isSeen().catch(() => false));
    return host.streams.answer(request, { ...access, stillAllowed }, async () => {
      const subscription = new ShownEvents(await instance.subscribe(options), show);
      if (cursor === undefined) return subscription;
      try {
        const finished = (await instance.status()).finishedAt !== null;
        if (!(finished && (await subscription.isOver()))) return subscription;
      } catch (error) {
        await subscription.return();
        throw error;
      }
      return null;
    });
  },
});

function readLastEventId(headers: Headers): number | undefined {
  const id = headers.get("last-event-id");
  if (id === null || id === "") return undefined;
  if (WHOLE_NUMBER.test(id)) return Number(id);
  throw invalidRequest("Last-Event-ID must be the id of an event of this stream.");
}

/** Events as they are sent. */
class ShownEvents implements EventSubscription {
  readonly #events: WorkflowInstanceSubscription;
  readonly #show: ShowValue;
  #first: Promise<IteratorResult<WorkflowInstanceEvent, void>> | undefined;

  constructor(events: WorkflowInstanceSubscription, show: ShowValue) {
    this.#events = events;
    this.#show = show;
  }

  /** Must be called before the first `next`. */
  async isOver(): Promise<boolean> {
    this.#first = this.#events.next();
    return (await this.#first).done === true;
  }

  async next(): Promise<IteratorResult<StreamEvent, void>> {
    const first = this.#first;
    this.#first = undefined;
    const { done, value } = await (first ?? this.#events.next());
    return done ? { done, value: undefined } : { done: false, value: toStreamEvent(value, this.#show) };
  }

  return(): Promise<unknown> {
    return this.#events.return();
  }
}

function toStreamEvent(event: WorkflowInstanceEvent, show: ShowValue): StreamEvent {
  const fields = Object.entries(event).filter(([, field]) => field !== undefined);
  const data = fields.map(([name, field]: [string, unknown]) => {
    const kind = VALUES.get(name);
    if (kind !== undefined) return [name, show(field, kind)];
    return [name, name === "error" ? failure(field, show) : field];
  });
  return { id: String(event.eventId), type: event.type, data: Object.fromEntries(data) };
}
