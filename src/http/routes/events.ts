import { idOfKey } from "../requests/repeatable-request.ts";
import { DONE, NAME, VALUE } from "../schemas/common-schemas.ts";
import { objectOf } from "../schemas/schema.ts";
import { fromWire } from "../wire-values.ts";
import { INSTANCE_PARAMS, INSTANCE_PATH, instanceResource } from "./instance-schemas.ts";
import { actOnce } from "./repeatable-acts.ts";
import { defineRoute } from "./route.ts";

export const sendEvent = defineRoute({
  method: "POST",
  path: `${INSTANCE_PATH}/events`,
  name: "sendEvent",
  summary: "Sends an event, whether or not a step waits for it yet.",
  operation: "events",
  resource: instanceResource,
  params: INSTANCE_PARAMS,
  body: objectOf(
    {
      type: NAME,
      payload: VALUE,
      id: { ...NAME, description: "An event with an id of your own is delivered once, however often it is sent." },
    },
    ["type"],
  ),
  repeatable: true,
  answers: DONE,
  errors: [404, 409],
  handle: async (call) => {
    const { type, payload, id: own } = call.body;
    const id = own ?? (call.repeatable === null ? undefined : idOfKey(call.repeatable.hash));
    const event = {
      type,
      ...(id === undefined ? {} : { id }),
      ...(payload === undefined ? {} : { payload: fromWire(payload, "payload") }),
    };
    await actOnce(call, (instance) => instance.sendEvent(event));
    return { status: 204 };
  },
});
