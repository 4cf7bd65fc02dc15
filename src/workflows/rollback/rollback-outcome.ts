import type { ErrorDescription } from "../../values/index.ts";

/** What became of a rollback. `error` is why it failed. */
export interface RollbackOutcome {
  readonly outcome: "complete" | "failed";
  readonly error?: ErrorDescription;
}
