import { type Clock, pause } from "../../clock.ts";
import { PerdureError } from "../../errors.ts";
import { describeError } from "../../values/index.ts";
import type { RetryDelay, WorkflowStepContext } from "../define/step.ts";
import { backoffDelay, parseWait, type StepPolicy } from "./step-config.ts";

/** How long a function that chooses a delay may take. */
const ANSWER_MS = 5000;

/**
 * How long to wait after a failed attempt. The backoff applies to what a function chooses, too. A function that doesn't choose a
 * delay throws `step.delay_failed`: without one there is no right time for another attempt.
 */
export async function chooseDelay(
  { delay, backoff }: StepPolicy,
  ctx: WorkflowStepContext,
  error: unknown,
  clock: Clock,
): Promise<number> {
  const base = typeof delay === "number" ? delay : await ask(delay, ctx, error, clock);
  return backoffDelay(base, backoff, ctx.attempt);
}

async function ask(delay: RetryDelay, ctx: WorkflowStepContext, error: unknown, clock: Clock): Promise<number> {
  const answered = new AbortController();
  try {
    const asked = Promise.resolve(delay({ ctx, error: error as Error }));
    const late = pause(clock, ANSWER_MS, answered.signal).then(() => {
      throw new Error("It didn't answer within 5 seconds.");
    });
    late.catch(() => {});
    return parseWait(await Promise.race([asked, late]), "The delay");
  } catch (failure) {
    throw delayFailed(ctx.step.name, failure, error);
  } finally {
    answered.abort();
  }
}

/** Its cause is what the attempt threw. */
function delayFailed(name: string, failure: unknown, error: unknown): PerdureError {
  return new PerdureError(
    "step.delay_failed",
    `The step "${name}" isn't tried again, because the function in retries.delay chose no delay: ${describeError(failure).message} ` +
      `Before that, the attempt failed: ${describeError(error).message}`,
    { cause: error },
  );
}
