import { type Duration, parseDuration } from "../duration.ts";
import { checkOptions } from "../options.ts";
import { checkFlag, checkLease, checkLimit, checkWhole, invalid } from "./subject-inputs.ts";
import type { SubjectLedger } from "./subject-ledger.ts";
import { type SubjectCounts, SubjectPool } from "./subject-pool.ts";
import type { HandleSubject, SubjectProgress } from "./subject-state.ts";
import { type Discovered, syncDiscovered } from "./sync-discovered.ts";

/** How subjects are found and handled. */
export interface HandlingOptions<Cursor = unknown, Meta = unknown> {
  /**
   * Returns all subjects that there are: an array, an iterable or an async one. Cursors and due times are where new subjects
   * begin; known ones keep theirs. Left out where subjects are synced elsewhere.
   */
  readonly discover?: () => Discovered<Cursor, Meta> | Promise<Discovered<Cursor, Meta>>;
  readonly handle: HandleSubject<Cursor, Meta>;
  /** How many are claimed at a time, 1 to 1000. Default: 10. */
  readonly limit?: number;
  /** For how long a lost process keeps its subjects. Leases are renewed while handlers run. Default: 30,000. */
  readonly leaseMs?: number;
  /** How many are handled at a time. Default: 10. */
  readonly concurrency?: number;
  /** Marks subjects that aren't discovered any more as retired. Default: false. */
  readonly retire?: boolean;
  /** Called for every event of a subject. It may throw without harm. */
  readonly onProgress?: (progress: SubjectProgress<Cursor, Meta>) => unknown;
}

export interface RunOptions<Cursor = unknown, Meta = unknown> extends HandlingOptions<Cursor, Meta> {
  /** How long a completed subject rests, unless its handler says. Default: until it is discovered again. */
  readonly every?: Duration;
  /** Claims no more when it is aborted, aborts the signals of handlers, and gives back those that throw then. */
  readonly signal?: AbortSignal;
}

export interface RunReport extends Readonly<SubjectCounts> {
  readonly discovered: number;
  readonly created: number;
  readonly refreshed: number;
  readonly retired: number;
}

export interface ParsedHandling {
  readonly limit: number;
  readonly leaseMs: number;
  readonly concurrency: number;
  readonly retire: boolean;
}

export const HANDLING_FIELDS: readonly string[] = [
  "discover",
  "handle",
  "limit",
  "leaseMs",
  "concurrency",
  "retire",
  "onProgress",
];

/** The user's options, checked, with defaults. */
export function parseHandling(options: HandlingOptions): ParsedHandling {
  const { discover, handle, onProgress } = options;
  if (typeof handle !== "function") throw invalid("handle must be a function");
  for (const [name, value] of Object.entries({ discover, onProgress })) {
    if (value !== undefined && typeof value !== "function") throw invalid(`${name} must be a function`);
  }
  return {
    limit: checkLimit(options.limit ?? 10),
    leaseMs: checkLease(options.leaseMs ?? 30_000),
    concurrency: checkWhole(options.concurrency ?? 10, "concurrency", 1, 10_000),
    retire: checkFlag(options.retire, "retire"),
  };
}

/** Discovers and syncs, if there is a `discover` function. */
export async function discoverSubjects(
  ledger: SubjectLedger,
  discover: (() => Discovered | Promise<Discovered>) | undefined,
  retire: boolean,
): Promise<Pick<RunReport, "discovered" | "created" | "refreshed" | "retired">> {
  if (discover === undefined) return { discovered: 0, created: 0, refreshed: 0, retired: 0 };
  const discovered = await discover();
  const iterable = Object(discovered);
  if (!(Symbol.iterator in iterable || Symbol.asyncIterator in iterable) || typeof discovered === "string") {
    throw invalid("discover must return an array of subjects, or another iterable");
  }
  return syncDiscovered(ledger, discovered, { retire, keepProgress: true });
}

/**
 * Handles everything that is due when it has discovered: subjects that become due later are left to the next run, so that this
 * one ends.
 */
export async function runSubjectsOf<Cursor, Meta>(
  ledger: SubjectLedger,
  options: RunOptions<Cursor, Meta>,
): Promise<RunReport> {
  checkOptions(options, {
    label: "runSubjects",
    fields: [...HANDLING_FIELDS, "every", "signal"],
    code: "subject.invalid",
  });
  const { signal, handle, discover, onProgress = () => {} } = options as unknown as RunOptions;
  const settings = parseHandling(options as unknown as RunOptions);
  const everyMs = options.every === undefined ? null : parseDuration(options.every, "every");
  let nudge = () => {};
  const pool = new SubjectPool({
    ...settings,
    ledger,
    store: await ledger.store(),
    handle,
    everyMs,
    onProgress,
    onRoom: () => nudge(),
  });
  const found = await discoverSubjects(ledger, signal?.aborted ? undefined : discover, settings.retire);
  const abort = () => pool.abort();
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  try {
    const dueBy = await ledger.time();
    for (let more = true; pool.room > 0 && more; ) {
      const { claimed } = await pool.fill(dueBy);
      more = claimed > 0;
      if (pool.room === 0 && pool.running > 0) {
        await new Promise<void>((resolve) => {
          nudge = resolve;
        });
      }
    }
  } finally {
    await pool.idle();
    signal?.removeEventListener("abort", abort);
  }
  return { ...found, ...pool.counts };
}
