/**
 * An employee wants to buy something, and a manager has to approve it: a workflow with steps, a wait for an event and a sleep.
 * It waits for days if need be, and survives whatever happens to the process meanwhile.
 */
import { defineWorkflow, EventTimeoutError, type WorkflowEvent } from "perdure";

export interface PurchaseRequest {
  readonly item: string;
  readonly price: number;
}

export interface Approval {
  readonly by: string;
  readonly granted: boolean;
}

/** What the workflow needs of the world around it. */
export interface Surroundings {
  say(what: string): void;
  /** Does it once for each key, however often it is asked. */
  notify(message: string, key: string): Promise<void>;
}

export function definePurchase({ say, notify }: Surroundings) {
  return defineWorkflow({ name: "purchase" }, async ({ payload }: WorkflowEvent<PurchaseRequest>, step) => {
    const { item, price } = payload;
    const left = await step.do("check the budget", () => {
      say(`is ${item} within the budget?`);
      return 2000 - price;
    });

    const approval = await step
      .waitForEvent<Approval>("approval", { type: "approval", timeout: "3 days" })
      .catch((error: unknown) => {
        if (error instanceof EventTimeoutError) return null;
        throw error;
      });
    if (approval === null || !approval.payload.granted) return { bought: false, left: left + price };

    await step.sleep("time to change your mind", "1 second");
    const receipt = await step.do("order", { retries: { limit: 5, delay: "400 milliseconds" } }, ({ attempt }) => {
      if (attempt === 1) {
        say("the supplier doesn't answer: once more");
        throw new Error("the supplier doesn't answer");
      }
      say(`orders ${item} for ${price} € (attempt ${attempt})`);
      return `receipt for ${item}`;
    });
    await step.do("tell", ({ idempotencyKey }) => {
      say("sends the receipt");
      return notify(`${receipt}, approved by ${approval.payload.by}`, idempotencyKey);
    });
    return { bought: true, left };
  });
}
