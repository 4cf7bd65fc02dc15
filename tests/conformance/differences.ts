/**
 * Where we mean to differ from Cloudflare's local engine: why, and what each comes to. docs/cloudflare.md has the same list.
 */
export interface Difference {
  readonly why: string;
  readonly theirs: object;
  readonly ours: object;
}

const TIMED_OUT =
  "There a timeout is told from other errors by its message alone; here by its class, as all errors are.";
const LENIENT = "There the configuration is refused. Here what is left out has its default, and there may be no limit.";

export const DIFFERENCES: Readonly<Record<string, Difference>> = {
  "a non-retryable error with a name of its own is tried once": {
    why: "There the class is lost on its way, and with another name it isn't recognised: it is retried.",
    theirs: { output: 3 },
    ours: { output: 1 },
  },
  "a non-retryable error is tried once": {
    why: "There what is caught is a plain Error, with the name as a part of the message. Ours keep both, as other errors do there, too.",
    theirs: { output: { failure: { name: "Error", message: "NonRetryableError: never again" }, attempts: 1 } },
    ours: { output: { failure: { name: "NonRetryableError", message: "never again" }, attempts: 1 } },
  },
  "an error of a class of its own": {
    why: "The same: there only the names of JavaScript's own errors survive.",
    theirs: { output: { name: "Error", message: "DeclinedError: no funds" } },
    ours: { output: { name: "DeclinedError", message: "no funds" } },
  },
  "a text is thrown by a step": {
    why: "There it becomes an Error; here what is caught is what was thrown.",
    theirs: { output: "(Error: only text)" },
    ours: { output: "only text" },
  },
  "how a step that takes too long fails": {
    why: TIMED_OUT,
    theirs: { output: { name: "Error", message: "WorkflowTimeoutError: Execution timed out after 200ms" } },
    ours: { output: { name: "AttemptAbortedError", message: "The step didn't end within 200 milliseconds." } },
  },
  "a step that takes too long, and the code doesn't catch it": {
    why: TIMED_OUT,
    theirs: {
      status: "errored",
      error: { name: "Error", message: "WorkflowTimeoutError: Execution timed out after 200ms" },
    },
    ours: {
      status: "errored",
      error: { name: "AttemptAbortedError", message: "The step didn't end within 200 milliseconds." },
    },
  },
  "how a wait that is over fails": {
    why: TIMED_OUT,
    theirs: { output: { name: "Error", message: "WorkflowTimeoutError: Execution timed out after 1000ms" } },
    ours: { output: { name: "EventTimeoutError", message: 'No event came in time for the step "never".' } },
  },
  "a wait that is over, and the code doesn't catch it": {
    why: TIMED_OUT,
    theirs: {
      status: "errored",
      error: { name: "Error", message: "WorkflowTimeoutError: Execution timed out after 1000ms" },
    },
    ours: {
      status: "errored",
      error: { name: "EventTimeoutError", message: 'No event came in time for the step "never".' },
    },
  },
  "what can't be stored fails its step": {
    why: "There it ends the instance, and no code can catch it. Here it is an error of the step, like any other.",
    theirs: { status: "errored" },
    ours: { status: "complete", output: true },
  },
  "a shared object is one object": {
    why: "Here plain JSON is stored as plain JSON, which people can query; it has no references.",
    theirs: { output: true },
    ours: { output: false },
  },
  "an output that isn't JSON": {
    why: "There `status()` shows what isn't JSON in a form of its own, or as nothing.",
    theirs: { output: { date: "1970-01-01T00:00:00.005Z", map: {}, number: null, failure: {} } },
    ours: { output: { date: "(Date 5)", number: "(number NaN)", failure: "(RangeError: kept)" } },
  },
  "the configuration that a step is told, by default": {
    why: "There durations are as they were written; here always milliseconds. And here the context has more.",
    theirs: { output: { keys: ["attempt", "config", "step"], config: { timeout: "10 minutes" } } },
    ours: {
      output: {
        keys: ["attempt", "config", "emit", "idempotencyKey", "signal", "step"],
        config: { retries: { limit: 5, delay: 1000, backoff: "exponential" }, timeout: 600_000 },
      },
    },
  },
  "the configuration that a step is told, in part": {
    why: "The same.",
    theirs: {
      output: {
        timeout: { retries: { limit: 5, delay: 1000, backoff: "exponential" }, timeout: "30 seconds" },
        retries: { retries: { limit: 1, delay: "2 seconds", backoff: "exponential" }, timeout: "10 minutes" },
        whole: { retries: { limit: 3, delay: 10, backoff: "linear" }, timeout: 60_000 },
      },
    },
    ours: {
      output: {
        timeout: { retries: { limit: 5, delay: 1000, backoff: "exponential" }, timeout: 30_000 },
        retries: { retries: { limit: 1, delay: 2000, backoff: "exponential" }, timeout: 600_000 },
        whole: { retries: { limit: 3, delay: 10, backoff: "linear" }, timeout: 60_000 },
      },
    },
  },
  "retries without end": {
    why: LENIENT,
    theirs: { status: "errored" },
    ours: { status: "complete", output: 10 },
  },
  "a step's configuration is refused: no delay": {
    why: LENIENT,
    theirs: { output: false, notes: [] },
    ours: { output: true, notes: ["ran"] },
  },
  "sleeping until a time that is over": {
    why: "There it throws, so that code which comes late fails. Here the sleep is over.",
    theirs: { output: false },
    ours: { output: true },
  },
  "an id that exists": {
    why: "The local engine gives a handle to the other instance, and says nothing. Cloudflare's documentation promises an error.",
    theirs: { again: "done", notes: ["ran"] },
    ours: { again: "refused", notes: ["ran"] },
  },
  "many at once, of which one is there": {
    why: "The local engine gives it as if it had been created. Cloudflare's documentation says that it is skipped.",
    theirs: { created: [0, 1] },
    ours: { created: [1] },
  },
  "none at once": {
    why: "Code that has nothing to create needs no exception for that.",
    theirs: { created: "refused" },
    ours: { created: [] },
  },
  "many are deleted at once": {
    why: "Our codes are texts, those of the errors that `delete` throws.",
    theirs: { deleted: [true], errors: [true], code: 10400, gone: "refused" },
    ours: { deleted: [true], errors: [true], code: "instance.not_found", gone: "refused" },
  },
  "what is asked of a finished instance": {
    why: "There what can't be done is dropped without a word, but for `terminate`. Here who asks is told.",
    theirs: { pause: "done", resume: "done", terminate: "refused", event: "done", ended: { status: "complete" } },
    ours: {
      pause: "refused",
      resume: "refused",
      terminate: "refused",
      event: "refused",
      ended: { status: "complete" },
    },
  },
};

/** The local engine shows what isn't JSON in a form of its own. */
export const SHOWN_DIFFERENTLY: readonly string[] = ["values come back as they were"];
