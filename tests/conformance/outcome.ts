/** What an instance came to, as JSON. */
export interface Outcome {
  readonly status: string;
  readonly output: unknown;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly rollback?: unknown;
  /** What its steps gave, in the order in which they ended. */
  readonly steps: readonly unknown[];
}

export const FINISHED: readonly string[] = ["complete", "errored", "terminated"];
