import { type FlowControlOptions, parseFlowControl } from "../../src/queue/flow-control.ts";
import type { LineLimits } from "../../src/store/lines/line-records.ts";
import type { Params } from "../checks/instance-records.ts";
import type { ProgramName } from "../names.ts";

/** Programs with a limit on how many run at a time, or start in a period. */
export const LIMITS: Partial<Record<ProgramName, FlowControlOptions<Params>>> = {
  sequential: { concurrency: { limit: 2 } },
  sleeping: { concurrency: { limit: 1, key: ({ n }) => ((n ?? 0) % 2 === 0 ? "even" : "odd") } },
  late: { concurrency: { limit: 2 } },
  child: { rateLimit: { limit: 2, period: "3 seconds" } },
  failing: { concurrency: { limit: 2 }, rateLimit: { limit: 2, period: "2 seconds" } },
};

/** How many events may wait for an instance. */
export const PENDING_EVENTS = 4;

export function limitsOf(name: string): LineLimits {
  const { concurrency, rateLimit } = LIMITS[name as ProgramName] ?? {};
  return parseFlowControl(concurrency, rateLimit)?.limits ?? { slots: null, starts: null };
}
