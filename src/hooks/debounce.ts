import { type Duration, parseDuration } from "../duration.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { Debounce } from "../store/hooks/hook-records.ts";

export interface DebounceOptions {
  /** How long no other trigger of the key may come in before the hook runs. */
  readonly delay: Duration;
  /** How long a trigger waits at most, however many follow it. Default: ten times the delay. `false`: as long as others follow. */
  readonly maxWait?: Duration | false;
}

const DAY_MS = 86_400_000;
const LONGEST_MS = 365 * DAY_MS;
/** Longer than anybody waits, and short enough to be counted from any time in milliseconds. */
const UNBOUNDED_MS = 1e15;
const DELAYS_UNTIL_IT_RUNS = 10;

export function parseDebounce(debounce: Duration | DebounceOptions): Debounce {
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
