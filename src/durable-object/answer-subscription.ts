import type { AnyFragment } from "../fragment/fragment.ts";
import { describeError } from "../values/index.ts";
import {
  type SubscribeOptions,
  startOf,
  type WorkflowInstanceSubscription,
} from "../workflows/views/instance-event.ts";
import { bindingOf } from "./answer-call.ts";
import { decodeCall } from "./shard-call.ts";
import { encodeLine, type StreamLine } from "./stream-line.ts";

/** Tells a router what happens to an instance of this object. Each line is made when it is asked for. */
export function answerSubscription(parts: AnyFragment["parts"], text: string): ReadableStream<Uint8Array> {
  let subscription: WorkflowInstanceSubscription | undefined;
  let isOver = false;

  const open = async (): Promise<StreamLine> => {
    const call = decodeCall(text);
    const options = (call.parameters[0] ?? {}) as SubscribeOptions;
    const instance = await bindingOf(parts, call).get(call.id as string);
    const { run } = await instance.status();
    subscription = await instance.subscribe(options);
    if (isOver) await subscription.return();
    return { opened: options.cursor ?? startOf(run) };
  };
  const next = async (): Promise<StreamLine> => {
    try {
      if (subscription === undefined) return await open();
      const { done, value } = await subscription.next();
      return done ? { end: true } : { event: value };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error(describeError(error).message) };
    }
  };

  return new ReadableStream({
    type: "bytes", // no others leave an object
    pull: async (controller: ReadableByteStreamController) => {
      const line = await next();
      if (isOver) return;
      controller.enqueue(encodeLine(line) as Uint8Array<ArrayBuffer>);
      if (!("end" in line || "error" in line)) return;
      controller.close();
      controller.byobRequest?.respond(0);
    },
    cancel: async () => {
      isOver = true;
      await subscription?.return();
    },
  });
}
