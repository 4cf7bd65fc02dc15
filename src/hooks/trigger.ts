import { type Duration, parseDuration } from "../duration.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { hookLine } from "../queue/flow-control.ts";
import { parseRetries, type RetryOptions } from "../queue/retry-policy.ts";
import { applySchema, isThenable } from "../schema.ts";
import type { Debounce, HookInsert } from "../store/hooks/hook-records.ts";
import { encodeValue, timeOfDate } from "../values/index.ts";
import { checkText } from "./names.ts";
import type { RegisteredHooks } from "./registered-hooks.ts";

export interface TriggerOptions {
  /** The earliest time to run. Default: at once. */
  readonly processAt?: Date | number;
  /**
   * Collapses duplicates: while a hook with this key waits, the trigger replaces its payload; while it runs, the trigger makes
   * it run once more.
   */
  readonly key?: string;
  /**
   * With a key, instead of a time: the hook runs when no trigger of the key has arrived for this long. Each trigger restarts
   * the delay.
   *
   * @example await app.hooks.reindex.trigger(page, { key: page.id, debounce: { delay: "10 seconds", maxWait: "2 minutes" } });
   */
  readonly debounce?: Duration | DebounceOptions;
  /** Replaces the hook's policy, field by field. */
  readonly retries?: RetryOptions;
  /** A caller's id: a second trigger of this hook with it does nothing. The hook's id is `name/id`. */
  readonly id?: string;
}

const FIELDS = ["processAt", "key", "debounce", "retries", "id"];
/** The end of the year 9999: later dates are mistakes, most often microseconds. */
const LATEST_TIME = 253_402_300_799_999;

/** Checks a trigger and makes the row to insert. Returns a promise only if the hook's schema is asynchronous. */
export function prepareTrigger(
  hooks: RegisteredHooks,
  name: string,
  payload: unknown,
  options: TriggerOptions | undefined,
  createId: () => string,
): HookInsert | Promise<HookInsert> {
  const definition = hooks.get(name);
  const { processAt, key, debounce, retries, id } = checkTrigger(options);
  const quiet = debounce === undefined ? null : parseDebounce(debounce);
  const policy = retries === undefined ? null : JSON.stringify(parseRetries(retries, "retries"));
  const { captureTraceContext, telemetry } = hooks.settings;
  const trace = telemetry === null ? captureTraceContext() : telemetry.triggers({ namespace: hooks.namespace, name });
  const toInsert = (value: unknown): HookInsert => ({
    namespace: hooks.namespace,
    id: id === undefined ? createId() : toHookId(name, id),
    ownId: id !== undefined,
    name,
    key: key ?? null,
    triggers: 1,
    triggeredAt: null,
    payload: encodeValue(value, { label: "payload", maxBytes: hooks.settings.maxPayloadBytes }),
    retries: policy,
    trace: trace ? encodeValue(trace, { label: "traceContext", maxBytes: 8192 }) : null,
    processAt: processAt === undefined ? null : (timeOfDate(processAt) ?? (processAt as number)),
    debounce: quiet,
    lease: null,
    ...(definition.flow !== null && { line: hookLine(definition.flow, { namespace: hooks.namespace, name }, value) }),
  });
  const validated = applySchema(definition.schema, payload, `The payload of "${name}"`);
  return definition.schema !== null && isThenable(validated) ? validated.then(toInsert) : toInsert(validated);
}

function checkTrigger(options: TriggerOptions | undefined): TriggerOptions {
  if (options === undefined) return {};
  checkOptions(options, { label: "A trigger", fields: FIELDS, code: "trigger.invalid" });
  const { processAt, key, debounce, id } = options;
  if (processAt !== undefined) checkTime(processAt);
  if (key !== undefined) checkText(key, "A key");
  if (id !== undefined) checkText(id, "An id");
  if (key !== undefined && id !== undefined) {
    throw invalid(
      "A trigger takes an id, which names one call, or a key, which collapses many calls into one; not both",
    );
  }
  if (debounce !== undefined && key === undefined) {
    throw invalid("A trigger with debounce needs a key: later triggers of the key postpone it");
  }
  if (debounce !== undefined && processAt !== undefined) {
    throw invalid("A trigger takes processAt or debounce, not both");
  }
  return options;
}

/** The id includes the hook's name, so that two hooks can be triggered with the same id. A name has no slash. */
function toHookId(name: string, ownId: string): string {
  return `${name}/${ownId}`;
}

function checkTime(value: unknown): void {
  const time = timeOfDate(value) ?? value;
  const accepted = typeof time === "number" && Number.isInteger(time) && Math.abs(time) <= LATEST_TIME;
  if (!accepted)
    throw invalid("processAt must be a Date, or milliseconds since the epoch as a whole number, before the year 10000");
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("trigger.invalid", `${problem}.`);
}

export interface DebounceOptions {
  /** The hook runs when no trigger of the key has arrived for this long. */
  readonly delay: Duration;
  /** The longest that a trigger waits, however many follow it. Default: ten times the delay. `false`: no limit. */
  readonly maxWait?: Duration | false;
}

const DAY_MS = 86_400_000;
const LONGEST_MS = 365 * DAY_MS;
/** Longer than any wait, and small enough to be added to any time in milliseconds. */
const UNBOUNDED_MS = 1e15;
const DELAYS_UNTIL_IT_RUNS = 10;

function parseDebounce(debounce: Duration | DebounceOptions): Debounce {
  if (typeof debounce !== "object") return parseDebounce({ delay: debounce });
  checkOptions(debounce, { label: "debounce", fields: ["delay", "maxWait"], code: "trigger.invalid" });
  const { delay, maxWait } = debounce;
  const delayMs = parseTime(delay, "delay");
  if (maxWait === undefined) return { delayMs, maxWaitMs: DELAYS_UNTIL_IT_RUNS * delayMs };
  if (maxWait === false) return { delayMs, maxWaitMs: UNBOUNDED_MS };
  const maxWaitMs = parseTime(maxWait, "maxWait");
  if (maxWaitMs >= delayMs) return { delayMs, maxWaitMs };
  throw new InvalidInputError(
    "trigger.invalid",
    `debounce.maxWait is ${maxWaitMs} ms, which is shorter than the delay of ${delayMs} ms: it must be as long or longer, or false.`,
  );
}

function parseTime(value: Duration, field: "delay" | "maxWait"): number {
  const label = `debounce.${field}`;
  const milliseconds = parseDuration(value, label);
  if (milliseconds <= LONGEST_MS) return milliseconds;
  throw new InvalidInputError("trigger.invalid", `${label} is ${milliseconds} ms, but can be at most 365 days.`);
}
