import type { Outcome } from "./outcome.ts";

/** Where we mean to differ from Cloudflare's local engine: why, and what each comes to. */
export interface Difference {
  readonly why: string;
  readonly theirs: Partial<Outcome>;
  readonly ours: Partial<Outcome>;
}

export const DIFFERENCES: Readonly<Record<string, Difference>> = {
  "a non-retryable error with a name of its own is tried once": {
    why: "There the class is lost on its way, and with another name nobody knows it any more: it is retried.",
    theirs: { output: 3 },
    ours: { output: 1 },
  },
  "a non-retryable error is tried once": {
    why: "There what is caught is a plain Error, with the name as a part of the message. Ours keep both, as other errors do there, too.",
    theirs: { output: { failure: { name: "Error", message: "NonRetryableError: never again" }, attempts: 1 } },
    ours: { output: { failure: { name: "NonRetryableError", message: "never again" }, attempts: 1 } },
  },
  "what can't be stored fails its step": {
    why: "There it ends the instance, and no code can catch it. Here it is an error of the step, like any other.",
    theirs: { status: "errored" },
    ours: { status: "complete", output: true },
  },
};

/** The local engine shows what isn't JSON in a form of its own. */
export const SHOWN_DIFFERENTLY: readonly string[] = ["values come back as they were"];
