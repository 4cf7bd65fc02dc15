import { InvalidInputError } from "../../errors.ts";
import { LONGEST_ID, LONGEST_STEP_NAME, LONGEST_WORKFLOW_NAME, USUAL_ID } from "../../names.ts";
import { checkOptions } from "../../options.ts";

/** The limits of runs. Sizes are in bytes of the stored text, before a codec. */
export interface WorkflowLimits {
  /** The number of steps in a run; sleeps don't count. Default: 10,000. */
  readonly steps?: number;
  /** The size of params, of a step's result, of an event's payload and of a workflow's result, each. Default: 1 MiB. */
  readonly valueBytes?: number;
  /** The size of params. Default: `valueBytes`. */
  readonly paramsBytes?: number;
  /** The size of a step's result. Default: `valueBytes`. */
  readonly stepResultBytes?: number;
  /** The size of an event's payload. Default: `valueBytes`. */
  readonly eventBytes?: number;
  /** The size of a workflow's result. Default: `valueBytes`. */
  readonly resultBytes?: number;
  /**
   * The number of entries in a run's journal: at least one for each step, sleep, wait and failed attempt. Default: 10 times
   * `steps`.
   */
  readonly journalEntries?: number;
  /** The total size of the results and errors in a run's journal. Default: 256 MiB. */
  readonly journalBytes?: number;
  /** The number of instances that `createBatch` and `deleteBatch` accept, up to 1000. Default: 100. */
  readonly batchSize?: number;
  /** The size of a stream that a step returns. Default: 128 MiB. */
  readonly streamBytes?: number;
  /** The number of events that an instance hasn't received yet. Default: 10,000. */
  readonly pendingEvents?: number;
  /** The length of a workflow's name, in characters. Default: 64. */
  readonly workflowNameLength?: number;
  /** The length of a step's name. Default: 256. */
  readonly stepNameLength?: number;
  /** The length of an instance's id; at least 100. Default: 100. */
  readonly instanceIdLength?: number;
  /** The length of an event's type. Default: 100. */
  readonly eventTypeLength?: number;
}

export interface WorkflowSettings {
  readonly maxSteps: number;
  readonly maxParamsBytes: number;
  readonly maxStepResultBytes: number;
  readonly maxEventBytes: number;
  readonly maxResultBytes: number;
  readonly maxJournalEntries: number;
  readonly maxJournalBytes: number;
  readonly maxBatchSize: number;
  readonly maxStreamBytes: number;
  readonly maxPendingEvents: number;
  readonly maxWorkflowName: number;
  readonly maxStepName: number;
  readonly maxInstanceId: number;
  readonly maxEventType: number;
  /** The shortest time to wait for an event. */
  readonly minEventTimeoutMs: number;
}

const MOST_STEPS = 1_000_000;
const MOST_BYTES = 256 * 1024 * 1024;
const MOST_ENTRIES = 10 * MOST_STEPS;
/** A journal is loaded as a whole. */
const MOST_JOURNAL_BYTES = 4 * 1024 * 1024 * 1024;
/** A larger batch would block other writers for too long. */
export const MOST_IN_BATCH = 1000;

/** They are all loaded when the instance runs. */
const MOST_PENDING_EVENTS = 1_000_000;
const MOST_STREAM_BYTES = 1024 ** 4;

const FIELDS = [
  ...["steps", "valueBytes", "paramsBytes", "stepResultBytes", "eventBytes", "resultBytes"],
  ...["journalEntries", "journalBytes", "batchSize", "streamBytes", "pendingEvents"],
  ...["workflowNameLength", "stepNameLength", "instanceIdLength", "eventTypeLength"],
];

export function parseWorkflowLimits(limits: WorkflowLimits = {}): WorkflowSettings {
  checkOptions(limits, { label: "workflowLimits", fields: FIELDS });
  const valueBytes = checkNumber(limits, "valueBytes", 1024 * 1024, MOST_BYTES);
  const maxSteps = checkNumber(limits, "steps", 10_000, MOST_STEPS);
  return {
    maxSteps,
    maxParamsBytes: checkNumber(limits, "paramsBytes", valueBytes, MOST_BYTES),
    maxStepResultBytes: checkNumber(limits, "stepResultBytes", valueBytes, MOST_BYTES),
    maxEventBytes: checkNumber(limits, "eventBytes", valueBytes, MOST_BYTES),
    maxResultBytes: checkNumber(limits, "resultBytes", valueBytes, MOST_BYTES),
    maxJournalEntries: checkNumber(limits, "journalEntries", 10 * maxSteps, MOST_ENTRIES),
    maxJournalBytes: checkNumber(limits, "journalBytes", 256 * 1024 * 1024, MOST_JOURNAL_BYTES),
    maxBatchSize: checkNumber(limits, "batchSize", 100, MOST_IN_BATCH),
    maxStreamBytes: checkNumber(limits, "streamBytes", 128 * 1024 * 1024, MOST_STREAM_BYTES),
    maxPendingEvents: checkNumber(limits, "pendingEvents", 10_000, MOST_PENDING_EVENTS),
    maxWorkflowName: checkNumber(limits, "workflowNameLength", 64, LONGEST_WORKFLOW_NAME),
    maxStepName: checkNumber(limits, "stepNameLength", 256, LONGEST_STEP_NAME),
    maxInstanceId: checkNumber(limits, "instanceIdLength", USUAL_ID, LONGEST_ID, USUAL_ID),
    maxEventType: checkNumber(limits, "eventTypeLength", USUAL_ID, LONGEST_ID),
    minEventTimeoutMs: 1000,
  };
}

function checkNumber(
  limits: WorkflowLimits,
  name: keyof WorkflowLimits,
  preset: number,
  most: number,
  least: number = 1,
): number {
  const { [name]: value = preset }: { readonly [Name in keyof WorkflowLimits]?: unknown } = limits;
  if (typeof value === "number" && Number.isInteger(value) && value >= least && value <= most) return value;
  const accepted = `a whole number from ${least} to ${most}`;
  throw new InvalidInputError("options.invalid", `workflowLimits.${name} must be ${accepted}.`);
}
