import { pause } from "../clock.ts";
import { InvalidInputError, isInfrastructure, ValueRefusedError } from "../errors.ts";
import type { HookSettlement, SettleResult } from "../store/hooks/hook-records.ts";
import type { Store } from "../store/store.ts";
import { encodeError } from "../values/index.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/**
 * A handler that has run must not run again because the database is unavailable or refuses for a while. So after a failure the
 * outcome is sent until it is written, or the hook has another owner. The token makes that harmless, even after the lease has
 * ended. Once `isPatient` says no, the next failure is thrown.
 */
export async function settlePatiently(
  store: Store,
  settlement: HookSettlement,
  failure: unknown,
  { isPatient, signal }: { readonly isPatient: () => boolean; readonly signal: AbortSignal },
): Promise<SettleResult> {
  let sent = settlement;
  let error = failure;
  for (let delay = FIRST_PAUSE_MS; ; ) {
    const { outcome } = sent;
    if (error instanceof ValueRefusedError && "error" in outcome && sent.outcome === settlement.outcome) {
      const message = `The error of the hook can't be stored. ${error.message}`;
      const refused = encodeError(new InvalidInputError("value.refused", message));
      sent = { ...sent, outcome: { ...outcome, error: refused } };
    } else {
      if (!isInfrastructure(error) || signal.aborted || !isPatient()) throw error;
      if (delay === FIRST_PAUSE_MS) tellOfDelay(store, settlement, error);
      await pause(store.clock, delay, signal);
      sent = { ...sent, again: true };
      delay = Math.min(delay * 2, LONGEST_PAUSE_MS);
    }
    try {
      return await store.hooks.settle(sent);
    } catch (next) {
      error = next;
    }
  }
}

function tellOfDelay({ logger }: Store, { namespace, id }: HookSettlement, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  logger.warn("The outcome of a hook can't be written to the database; it is sent again until it is.", {
    namespace,
    hookId: id,
    message,
  });
}
