import type { Clock } from "../clock.ts";
import { resolveRetries } from "../queue/retry-policy.ts";
import type { Store } from "../store/store.ts";
import { loggedError } from "../values/index.ts";
import { parseInterval, type SubjectsDefinition } from "./define-subjects.ts";
import { discoverSubjects, parseHandling } from "./run-subjects.ts";
import { SubjectLedger } from "./subject-ledger.ts";
import { SubjectLoop } from "./subject-loop.ts";
import type { SubjectProgress } from "./subject-state.ts";

/** The only subject of the dispatcher that stands for discoveries. */
const DISCOVERY = "discovery";
const DISCOVERY_LEASE_MS = 30_000;
const FIRST_RETRY_MS = 5000;

/**
 * Subjects that are discovered and handled on an interval. The discovery is a subject, too, of a dispatcher of its own: so it
 * happens once per interval, in whichever process is free, is tried again when it fails, and its time is kept over restarts.
 */
export class SubjectSchedule {
  readonly #loops: SubjectLoop[];
  readonly #clock: Clock;

  constructor(store: Store, ledger: SubjectLedger, { options }: SubjectsDefinition) {
    this.#clock = store.clock;
    const settings = parseHandling(options);
    const everyMs = parseInterval(options.every);
    const { handle, discover } = options;
    const onProgress = options.onProgress ?? ((progress) => logFailure(store, progress));
    const common = { store, everyMs, prepare: async () => {} };
    this.#loops = [new SubjectLoop({ ...common, ...settings, ledger, handle, onProgress })];
    if (discover === undefined) return;
    const discoveries = discoveryLedger(ledger, everyMs);
    this.#loops.push(
      new SubjectLoop({
        ...common,
        ledger: discoveries,
        limit: 1,
        concurrency: 1,
        leaseMs: DISCOVERY_LEASE_MS,
        prepare: () => scheduleDiscovery(discoveries, everyMs),
        handle: async () => void (await discoverSubjects(ledger, discover, settings.retire)),
        onProgress: (progress) => logFailure(store, progress),
      }),
    );
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  wake(): void {
    for (const loop of this.#loops) loop.wake();
  }

  /** Milliseconds until a subject, or the discovery, is due; null if none waits. */
  async nextWake(): Promise<number | null> {
    return earliest(await Promise.all(this.#loops.map((loop) => loop.nextWake())));
  }

  /** Discovers and handles what is due, until nothing is or until the deadline. Returns how many that were. */
  async drain(deadlineMs: number, listens: () => boolean): Promise<number> {
    const endAt = this.#clock.monotonic() + deadlineMs;
    for (let total = 0; ; ) {
      const remaining = Math.max(endAt - this.#clock.monotonic(), 0);
      const counts = await Promise.all(this.#loops.map((loop) => loop.drain(remaining, listens)));
      const claimed = counts.reduce((sum, count) => sum + count, 0);
      total += claimed;
      // A discovery makes subjects due for which the other loop has looked before.
      if (claimed === 0 || this.#clock.monotonic() >= endAt) return total;
    }
  }

  async stop(deadlineMs: number): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop(deadlineMs)));
  }
}

/** No dispatcher of a user can have this id. */
function discoveryLedger(ledger: SubjectLedger, everyMs: number): SubjectLedger {
  const { profile, dispatcherId } = ledger.scope;
  const retries = resolveRetries({ delay: Math.min(FIRST_RETRY_MS, everyMs), maxDelay: everyMs });
  return new SubjectLedger({
    profile,
    dispatcherId: `${dispatcherId}~${DISCOVERY}`,
    store: ledger.store,
    owner: ledger.owner,
    settings: { cursor: null, meta: null, retries },
  });
}

/** The first one is due at once; later ones when they are, unless the interval has become shorter since. */
async function scheduleDiscovery(ledger: SubjectLedger, everyMs: number): Promise<void> {
  const nothing = { subjectKey: DISCOVERY, group: null, cursor: null, meta: null };
  await ledger.sync([{ ...nothing, dueAt: null }], true);
  const now = await ledger.time();
  const known = await ledger.find(DISCOVERY);
  if (known?.dueAt !== null && known !== null && known.dueAt > now + everyMs) {
    await ledger.sync([{ ...nothing, dueAt: now }], false);
  }
}

function logFailure(store: Store, { event, subject, error }: SubjectProgress): void {
  if (event !== "failed" && event !== "lost") return;
  const { dispatcherId, subjectKey, consecutiveFailures } = subject;
  store.logger.warn(`A subject ${event === "failed" ? "failed" : "was lost to another process"}.`, {
    dispatcherId,
    subjectKey,
    consecutiveFailures,
    ...(error === undefined ? {} : { error: loggedError(error, store.stackTraces) }),
  });
}

export function earliest(wakes: readonly (number | null)[]): number | null {
  const known = wakes.filter((wake) => wake !== null);
  return known.length === 0 ? null : Math.min(...known);
}
