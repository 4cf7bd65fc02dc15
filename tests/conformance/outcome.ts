import type { Program } from "./programs.ts";

/** What a program came to, as JSON: nothing that is undefined is left in it. */
export interface Outcome {
  readonly status: string;
  readonly output: unknown;
  readonly error: { readonly name: string; readonly message: string } | null;
  /** What its steps gave, in the order in which they ended. */
  readonly steps: readonly unknown[];
}

/** An engine that programs run on. */
export interface Runner {
  run(program: Program): Promise<Outcome>;
  close(): Promise<void>;
}

export const FINISHED: readonly string[] = ["complete", "errored", "terminated"];

export function toOutcome(outcome: {
  readonly status: string;
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string } | null;
  readonly steps: readonly unknown[];
}): Outcome {
  const { status, output = null, error, steps } = outcome;
  const shown = error ? { name: error.name, message: error.message } : null;
  const plain = (_key: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return JSON.parse(JSON.stringify({ status, output, error: shown, steps }, plain)) as Outcome;
}
