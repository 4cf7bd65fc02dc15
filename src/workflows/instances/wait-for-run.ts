import type { Clock } from "../../clock.ts";
import { PerdureError } from "../../errors.ts";
import type { InstanceName } from "../../store/instances/instance-records.ts";
import type { FinishedRun, ResultWaiters } from "./result-waiters.ts";

export interface RunWait {
  /** Whether it may be finished already. */
  readonly look: boolean;
  readonly timeoutMs: number | null;
  readonly signal: AbortSignal | undefined;
}

/** Waits for the end of an instance's run. Gives null where the instance was deleted. */
export function waitForRun(
  { results, clock }: { readonly results: ResultWaiters; readonly clock: Clock },
  instance: InstanceName,
  { look, timeoutMs, signal }: RunWait,
): Promise<FinishedRun | null> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      stop();
      timer?.cancel();
      signal?.removeEventListener("abort", abort);
    };
    const failed = (error: unknown) => {
      leave();
      reject(error);
    };
    const finished = (run: FinishedRun | null) => {
      leave();
      resolve(run);
    };
    const abort = () => failed(signal?.reason);
    const stop = results.wait(instance, { finished, failed }, { look });
    const timer = timeoutMs === null ? undefined : clock.setTimer(() => failed(late(instance)), timeoutMs);
    signal?.addEventListener("abort", abort);
  });
}

function late({ id }: InstanceName): PerdureError {
  return new PerdureError("result.timeout", `The instance "${id}" wasn't finished in time; it goes on.`);
}
