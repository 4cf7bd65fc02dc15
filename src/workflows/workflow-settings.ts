import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";

/** What a run may be, at most. */
export interface WorkflowLimits {
  /** How many steps a run may have; sleeps don't count. Default: 10,000. */
  readonly steps?: number;
  /** How large params, a step's result, an event's payload and a workflow's result may be, each. Default: 1 MiB. */
  readonly valueBytes?: number;
}

export interface WorkflowSettings {
  readonly maxSteps: number;
  readonly maxValueBytes: number;
  /** The shortest time to wait for an event. */
  readonly minEventTimeoutMs: number;
}

const MOST_STEPS = 1_000_000;
const MOST_BYTES = 256 * 1024 * 1024;

export function parseWorkflowLimits(limits: WorkflowLimits = {}): WorkflowSettings {
  checkOptions(limits, { label: "workflowLimits", fields: ["steps", "valueBytes"] });
  const { steps = 10_000, valueBytes = 1024 * 1024 } = limits;
  return {
    maxSteps: checkNumber("steps", steps, MOST_STEPS),
    maxValueBytes: checkNumber("valueBytes", valueBytes, MOST_BYTES),
    minEventTimeoutMs: 1000,
  };
}

function checkNumber(name: string, value: unknown, most: number): number {
  if (typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new InvalidInputError("options.invalid", `workflowLimits.${name} must be a whole number from 1 to ${most}.`);
}
