import { type Duration, parseDuration } from "../duration.ts";
import type { OnAlert } from "../monitoring/alerts.ts";
import type { Telemetry, TraceContext } from "../monitoring/tracing.ts";
import { checkOptions, invalidOption } from "../options.ts";

/** How the hooks of a fragment or an application are treated. */
export interface DurableHooksOptions {
  /** A handler that takes longer is aborted, and its hook is queued again. `false`: never. Default: 10. */
  readonly stuckProcessingTimeoutMinutes?: number | false;
  /** Receives hooks that were queued again because their handler hung or their process was lost. May throw without harm. */
  readonly onStuckProcessingHooks?: (report: StuckHooksReport) => unknown;
  /**
   * Receives alerts for operators: dead letters, crash loops, instances whose code doesn't match their history, and names that
   * no worker runs. May throw without harm.
   */
  readonly onAlert?: OnAlert;
  /** Keeps completed hooks for this long. `false`: deletes them at once. Default: `false`. */
  readonly keepCompleted?: Duration | false;
  /** The largest payload, in bytes of its stored text. Default: 1 MiB. */
  readonly maxPayloadBytes?: number;
  /** Called at each trigger; its result is the handler's `traceContext`. */
  readonly captureTraceContext?: () => TraceContext | null | undefined;
  /** Makes spans of hooks, instances and steps, such as `openTelemetry()` of `perdure/opentelemetry`. Default: none. */
  readonly telemetry?: Telemetry;
}

export interface StuckHooksReport {
  readonly namespace: string;
  /** The configured time-out; `false` if there is none, and the processes were lost. */
  readonly timeoutMinutes: number | false;
  readonly events: readonly StuckHook[];
}

export interface StuckHook {
  readonly hookId: string;
  readonly hookName: string;
  readonly attempts: number;
  /** `timeout`: its handler ran for too long. `lost`: the process that ran it is gone, or was out of reach for too long. */
  readonly reason: "timeout" | "lost";
}

export interface HookSettings {
  readonly stuckTimeoutMinutes: number | false;
  readonly onAlert: OnAlert | null;
  readonly onStuck: ((report: StuckHooksReport) => unknown) | null;
  readonly keepMs: number;
  readonly maxPayloadBytes: number;
  readonly captureTraceContext: () => TraceContext | null | undefined;
  readonly telemetry: Telemetry | null;
}

const DEFAULT_STUCK_MINUTES = 10;
const DEFAULT_MAX_PAYLOAD_BYTES = 1024 * 1024;
/** A row of a few megabytes is slow; of hundreds, the database refuses it. */
const HIGHEST_MAX_PAYLOAD_BYTES = 64 * 1024 * 1024;
/** Three weeks: timers can't be much longer. */
const LONGEST_STUCK_MINUTES = 21 * 24 * 60;
export const HOOK_SETTINGS: readonly string[] = [
  "stuckProcessingTimeoutMinutes",
  "onStuckProcessingHooks",
  "onAlert",
  "keepCompleted",
  "maxPayloadBytes",
  "captureTraceContext",
  "telemetry",
];

export function parseHookSettings(options: DurableHooksOptions = {}): HookSettings {
  checkOptions(options, { label: "durableHooks", fields: HOOK_SETTINGS });
  const { stuckProcessingTimeoutMinutes: stuckTimeoutMinutes = DEFAULT_STUCK_MINUTES } = options;
  const { onStuckProcessingHooks, onAlert, keepCompleted = false, captureTraceContext, telemetry } = options;
  const { maxPayloadBytes = DEFAULT_MAX_PAYLOAD_BYTES } = options;
  if (stuckTimeoutMinutes !== false && !isTimeout(stuckTimeoutMinutes)) {
    throw invalidOption(
      `stuckProcessingTimeoutMinutes must be a number above zero, at most ${LONGEST_STUCK_MINUTES}, or false`,
    );
  }
  if (!(Number.isInteger(maxPayloadBytes) && maxPayloadBytes > 0 && maxPayloadBytes <= HIGHEST_MAX_PAYLOAD_BYTES)) {
    throw invalidOption(`maxPayloadBytes must be a whole number from 1 to ${HIGHEST_MAX_PAYLOAD_BYTES}`);
  }
  for (const [name, value] of Object.entries({ onStuckProcessingHooks, onAlert, captureTraceContext })) {
    if (value !== undefined && typeof value !== "function") throw invalidOption(`${name} must be a function`);
  }
  if (telemetry !== undefined && typeof telemetry?.runs !== "function") {
    throw invalidOption("telemetry must be made by openTelemetry() of perdure/opentelemetry, or have its methods");
  }
  return {
    stuckTimeoutMinutes,
    onStuck: onStuckProcessingHooks ?? null,
    onAlert: onAlert ?? null,
    keepMs: keepCompleted === false ? 0 : parseDuration(keepCompleted, "keepCompleted"),
    maxPayloadBytes,
    captureTraceContext: captureTraceContext ?? (() => null),
    telemetry: telemetry ?? null,
  };
}

function isTimeout(minutes: unknown): boolean {
  return typeof minutes === "number" && minutes > 0 && minutes <= LONGEST_STUCK_MINUTES;
}
