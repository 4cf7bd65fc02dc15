/** What became of a rollback. `error` is why it failed. */
export interface RollbackOutcome {
  readonly outcome: "complete" | "failed";
  readonly error?: { readonly name: string; readonly message: string };
}
