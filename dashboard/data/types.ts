/** Answers of the HTTP API, as far as the page uses them. Times are ISO texts; users' values are JSON with `$perdure` tags. */

export interface Session {
  readonly version: string;
  readonly operations: readonly Operation[];
  readonly payloads: boolean;
}

export type Operation = "read" | "create" | "manage" | "events" | "operate";

export interface Failure {
  readonly name: string;
  readonly message: unknown;
  readonly code?: string;
  readonly stack?: unknown;
}

export interface Unreadable {
  readonly code: string;
  readonly message: string;
}

export const STATUSES = [
  "queued",
  "running",
  "waiting",
  "diverged",
  "waitingForPause",
  "paused",
  "rollingBack",
  "complete",
  "errored",
  "terminated",
] as const;

interface LimitOfKey {
  readonly key: string;
  readonly limit: number | null;
}

export interface Instance {
  readonly id: string;
  readonly workflowName: string;
  readonly status: string;
  readonly run: number;
  readonly version?: number;
  readonly output?: unknown;
  readonly error?: Failure;
  readonly rollback?: { readonly outcome: string; readonly error?: Failure };
  readonly parent?: { readonly workflowName: string; readonly id: string };
  readonly schedule?: { readonly cron: string; readonly scheduledTime: string };
  readonly priority?: number;
  readonly limits?: { readonly concurrency?: LimitOfKey; readonly rateLimit?: LimitOfKey };
  readonly labels?: Readonly<Record<string, string>>;
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly diverged?: Failure;
  readonly unreadable?: Unreadable;
}

export interface InstanceDetails extends Instance {
  readonly params?: unknown;
  readonly unreceivedCount: number;
  /** The oldest of them. */
  readonly unreceivedEvents: readonly {
    readonly type: string;
    readonly at: string;
    readonly payload?: unknown;
    readonly omitted?: boolean;
    readonly unreadable?: Unreadable;
  }[];
}

export interface Entry {
  readonly run: number;
  readonly position: number;
  readonly at: string;
  readonly kind: string;
  readonly type: string;
  readonly name: string;
  readonly count: number;
  readonly inside?: string;
  readonly attempt?: number;
  readonly output?: unknown;
  readonly error?: Failure;
  readonly progress?: unknown;
  readonly awaits?: string;
  readonly dueAt?: string;
  readonly event?: { readonly type: string; readonly payload?: unknown };
  readonly unreadable?: Unreadable;
}

export interface EarlierRun {
  readonly run: number;
  readonly status: string;
  readonly version?: number;
  readonly output?: unknown;
  readonly error?: Failure;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
}

export interface History {
  readonly run: number;
  readonly earlierRuns: readonly EarlierRun[];
  readonly entries: readonly Entry[];
  readonly cursor: string | null;
}

export interface Explanation {
  readonly sentence: string;
  readonly reason: { readonly reason: string } & Readonly<Record<string, unknown>>;
  readonly others: readonly Explanation["reason"][];
}

export interface Hook {
  readonly id: string;
  readonly name: string;
  readonly key: string | null;
  readonly status: string;
  readonly attempts: number;
  readonly payload?: unknown;
  readonly error?: Failure | null;
  readonly createdAt: string;
  readonly lastAttemptAt: string | null;
  readonly availableAt: string | null;
  readonly finishedAt: string | null;
  readonly unreadable?: Unreadable;
}

export interface Subject {
  readonly dispatcherId: string;
  readonly subjectKey: string;
  readonly group: string | null;
  readonly status: string;
  readonly revision: number;
  readonly cursor?: unknown;
  readonly meta?: unknown;
  readonly nextDueAt: string | null;
  readonly leaseOwner: string | null;
  readonly leaseExpiresAt: string | null;
  readonly attempts: number;
  readonly consecutiveFailures: number;
  readonly lastError: Failure | null;
  readonly lastSuccessAt: string | null;
  readonly lastFailureAt: string | null;
}

export interface Schedule {
  readonly workflowName: string;
  readonly name: string;
  readonly cron: string;
  readonly timezone: string;
  readonly paused: boolean;
  readonly nextAt: string | null;
  readonly lastAt: string | null;
  readonly inCode: boolean;
}

export interface Worker {
  readonly id: string;
  readonly alive: boolean;
  readonly host: string;
  readonly pid: number | null;
  readonly version: string;
  readonly hooks: readonly string[];
  readonly workflows: readonly string[];
  readonly concurrency: { readonly hooks: number; readonly workflows: number };
  readonly startedAt: string;
  readonly lastSeenAt: string;
}

export type Figure = (typeof STATUSES)[number] | "total";

export interface InstanceCounts extends Readonly<Record<Figure, number>> {
  /** The figures that are lower limits: there are more instances than were counted. */
  readonly atLeast: readonly Figure[];
}

export interface HookStatistics {
  readonly pending: number;
  readonly due: number;
  readonly processing: number;
  readonly failed: number;
  readonly completed: number;
  readonly oldestDueMs: number | null;
}

export interface InstanceQueue {
  readonly due: number;
  readonly waiting: number;
  readonly running: number;
  readonly inLine: number;
  readonly oldestDueMs: number | null;
}

/** A name under which work is due and that no live worker runs. */
export interface Unclaimed {
  readonly kind: "hook" | "workflow";
  readonly name: string;
  readonly due: number;
  readonly since: string;
}

export interface Statistics {
  /** Left out for a caller that sees only instances with some labels. */
  readonly hooks?: HookStatistics;
  readonly instanceQueue?: InstanceQueue | null;
  readonly instances?: {
    readonly total: InstanceCounts;
    readonly workflows: Readonly<Record<string, InstanceCounts>>;
  };
}
