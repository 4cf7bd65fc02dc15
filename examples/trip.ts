/**
 * A trip is booked piece by piece, and one piece can't be had: a workflow whose steps say how they are taken back. When it
 * fails, what was booked is cancelled, the last booking first, whatever happens to the process meanwhile.
 */
import { setTimeout as delay } from "node:timers/promises";
import { defineWorkflow, NonRetryableError, type WorkflowEvent } from "perdure";

export interface Trip {
  readonly to: string;
}

/** A travel agency that takes its time. */
async function ask<Answer>(answer: Answer): Promise<Answer> {
  await delay(300);
  return answer;
}

export function defineTrip(say: (what: string) => void) {
  return defineWorkflow({ name: "trip" }, async ({ payload }: WorkflowEvent<Trip>, step) => {
    const book = (what: string) => {
      say(`books a ${what}`);
      return ask(`${what} to ${payload.to}`);
    };
    /** `output` is what the step gave; a step that failed, or was cut off, gave nothing. */
    const cancel = (what: string) => ({
      rollback: async ({ output }: { readonly output: string | undefined }) => {
        say(output === undefined ? `has no ${what} to cancel` : `cancels the ${what}`);
        await ask(undefined);
      },
    });

    const flight = await step.do("flight", () => book("flight"), cancel("flight"));
    const hotel = await step.do("hotel", () => book("hotel"), cancel("hotel"));
    const car = await step.do(
      "car",
      async () => {
        await book("car");
        say("gets no car: takes back what it has booked, the last booking first");
        throw new NonRetryableError(`there is no car left in ${payload.to}`);
      },
      cancel("car"),
    );
    return [flight, hotel, car];
  });
}
