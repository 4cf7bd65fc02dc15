import { type Clock, pause } from "../../../clock.ts";
import { PerdureError } from "../../../errors.ts";
import { isNonRetryable } from "../../../non-retryable.ts";
import { requestedDelay } from "../../../queue/retry-policy.ts";
import { describeError } from "../../../values/index.ts";
import type { RetryDelay, WorkflowStepContext } from "../../define/step.ts";
import { StreamRefusedError } from "../../streams/chunks.ts";
import type { Attempt } from "../attempt.ts";
import type { AttemptEnd } from "../endings.ts";
import { backoffDelay, parseWait } from "./step-config.ts";

/** How long a function that chooses a delay may take. */
const ANSWER_MS = 5000;

/**
 * What a failed attempt comes to: another one after a delay, or the failure of its step. The error may ask for a delay;
 * otherwise the policy has one, to which the backoff applies. If no delay can be found, the step fails: there is no right time
 * for another attempt.
 */
export function endWithError(attempt: Attempt, error: unknown, clock: Clock): AttemptEnd | Promise<AttemptEnd> {
  const { call, context } = attempt;
  const { limit, delay, backoff } = call.policy;
  const ours = (call.type === "create" || call.transaction?.ours === true) && error instanceof PerdureError;
  const final = ours || isNonRetryable(error) || error instanceof StreamRefusedError;
  if (final || call.attempt > limit) return { call, error, delay: null };
  const requested = requestedDelay(error, clock.now());
  if (requested !== null) return { call, error, delay: requested };
  const { attempt: number } = call;
  if (typeof delay === "number") return { call, error, delay: backoffDelay(delay, backoff, number) };
  return ask(delay, context, error, clock).then(
    (base) => ({ call, error, delay: backoffDelay(base, backoff, number) }),
    (failure: unknown) => ({ call, error: failure, delay: null }),
  );
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

/** Its cause is the error of the attempt. */
function delayFailed(name: string, failure: unknown, error: unknown): PerdureError {
  return new PerdureError(
    "step.delay_failed",
    `The step "${name}" isn't tried again, because the function in retries.delay chose no delay: ${describeError(failure).message} ` +
      `Before that, the attempt failed: ${describeError(error).message}`,
    { cause: error },
  );
}
