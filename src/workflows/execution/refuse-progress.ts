import { PerdureError } from "../../errors.ts";

/** The attempt is over: what it still tells is nobody's. */
export function refuseProgress(): Promise<void> {
  const refused = Promise.reject(
    new PerdureError("progress.refused", "The attempt has ended, or is no longer ours: it can't emit any more."),
  );
  refused.catch(() => {});
  return refused;
}
