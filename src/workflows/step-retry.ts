import { type Clock, pause } from "../clock.ts";
import { describeError } from "../values/index.ts";
import { backoffDelay, DEFAULT_POLICY, parseWait, type StepPolicy } from "./step-config.ts";
import type { WorkflowStepContext } from "./step-options.ts";

/** How long a function that chooses a delay may take. */
const ANSWER_MS = 5000;

interface DelayHost {
  readonly clock: Clock;
  warn(message: string, details: Readonly<Record<string, unknown>>): void;
}

/** How long to wait after a failed attempt. A function that fails to say leaves it to the default. */
export async function chooseDelay(
  { delay, backoff }: StepPolicy,
  ctx: WorkflowStepContext,
  error: unknown,
  host: DelayHost,
): Promise<number> {
  if (typeof delay === "number") return backoffDelay(delay, backoff, ctx.attempt);
  try {
    const asked = Promise.resolve(delay({ ctx, error: error as Error }));
    const answered = new AbortController();
    const late = pause(host.clock, ANSWER_MS, answered.signal).then(() => {
      throw new Error("it didn't answer within 5 seconds");
    });
    late.catch(() => {});
    const chosen = await Promise.race([asked, late]).finally(() => answered.abort());
    return parseWait(chosen, "The delay");
  } catch (failure) {
    const { message } = describeError(failure);
    host.warn("The function that chooses a retry's delay failed; the default delay is used.", {
      step: ctx.step.name,
      message,
    });
    return backoffDelay(DEFAULT_POLICY.delay as number, "exponential", ctx.attempt);
  }
}
