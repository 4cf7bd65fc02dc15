import { defineHook, type WaitingReason } from "../../../src/index.ts";
import { Gate } from "./handlers.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Expected = Partial<Record<string, unknown>> & { readonly reason: WaitingReason["reason"] };

/** A trigger that gets its hook stuck. */
export interface StuckTrigger {
  readonly hook: keyof StuckHooks["definitions"];
  readonly options?: (number: number, now: number) => object;
}

/** One kind of stuck hooks, with the right answer for the nth of its kind. */
export interface StuckHookState extends StuckTrigger {
  readonly title: string;
  /** Whether a worker with these hooks runs. Default: it does. */
  readonly attended?: boolean;
  /** Whether a worker with other hooks runs. Default: none does. */
  readonly strangers?: true;
  readonly expected: (number: number, now: number) => Expected;
}

const at = (time: number) => new Date(time);
/** Hooks stand in lines of this length, of which the first holds the slot or has the start. */
const IN_LINE = 5;
const keyOf = (number: number) => `tenant-${Math.ceil(number / IN_LINE)}`;
const placeOf = (number: number) => (number - 1) % IN_LINE;
const secret = (number: number) => ({ name: "RangeError", message: `secret ${number}` });

export const STUCK_HOOKS: readonly StuckHookState[] = [
  {
    title: "a delay",
    hook: "works",
    options: (number, now) => ({ processAt: at(now + number * MINUTE) }),
    expected: (number, now) => ({ reason: "scheduled", until: at(now + number * MINUTE) }),
  },
  {
    title: "a key that waits for silence",
    hook: "works",
    options: (number) => ({ key: `key-${number}`, debounce: { delay: number * MINUTE } }),
    expected: (number, now) => ({ reason: "scheduled", until: at(now + number * MINUTE) }),
  },
  {
    title: "a retry, as often as the hook says",
    hook: "fails",
    options: (number) => ({ retries: { delay: number * MINUTE, backoff: "constant" } }),
    expected: (number, now) => ({
      reason: "retrying",
      attempt: 2,
      of: 5,
      due: at(now + number * MINUTE),
      error: secret(number),
    }),
  },
  {
    title: "a retry, as often as the trigger says",
    hook: "fails",
    options: (number) => ({ retries: { limit: number, delay: MINUTE, backoff: "constant" } }),
    expected: (number, now) => ({ reason: "retrying", attempt: 2, of: number + 1, due: at(now + MINUTE) }),
  },
  {
    title: "a retry of a hook with a limit, which doesn't stand in line meanwhile",
    hook: "failsInLine",
    options: () => ({}),
    expected: (number) => ({ reason: "retrying", attempt: 2, of: 8, error: secret(number) }),
  },
  {
    title: "a bad end",
    hook: "fails",
    options: () => ({ retries: { limit: 0 } }),
    expected: (number, now) => ({ reason: "finished", status: "failed", at: at(now), error: secret(number) }),
  },
  {
    title: "a good end",
    hook: "works",
    options: (number) => ({ id: `own-${number}` }),
    expected: (_, now) => ({ reason: "finished", status: "completed", at: at(now) }),
  },
  {
    title: "a place in line for a slot",
    hook: "limited",
    expected: (number) =>
      placeOf(number) === 0
        ? { reason: "running" }
        : { reason: "inLine", limit: 1, ahead: placeOf(number) - 1, held: 1 },
  },
  {
    title: "a place in line for a start",
    hook: "rated",
    options: (number) => ({ id: `own-${1000 + number}` }), // of those that are due at the same time, the smaller id is first
    expected: (number) =>
      placeOf(number) === 0
        ? { reason: "finished", status: "completed" }
        : { reason: "rateLimited", limit: 1, ahead: placeOf(number) - 1 },
  },
  {
    title: "the absence of a worker that runs it",
    hook: "works",
    attended: false,
    strangers: true,
    expected: () => ({ reason: "noWorker", name: "works", workers: 1 }),
  },
  {
    title: "the absence of all workers",
    hook: "limited",
    attended: false,
    expected: () => ({ reason: "noDispatcher" }),
  },
];

/** Hooks that get stuck in every way. Their payloads are numbers. */
export class StuckHooks {
  /** `limited` waits for it. */
  readonly gate: Gate = new Gate();

  readonly definitions = {
    works: defineHook({}, async (_number: number) => {}),
    fails: defineHook({ retries: { limit: 4, delay: "1 hour", backoff: "constant" } }, fail),
    failsInLine: defineHook(
      { retries: { limit: 7, delay: "1 hour", backoff: "constant" }, concurrency: { limit: 100 } },
      fail,
    ),
    limited: defineHook({ concurrency: { limit: 1, key: keyOf } }, async (_number: number) => this.gate.opened),
    rated: defineHook({ rateLimit: { limit: 1, period: HOUR, key: keyOf } }, async (_number: number) => {}),
  };
}

async function fail(number: number): Promise<void> {
  throw new RangeError(`secret ${number}`);
}
