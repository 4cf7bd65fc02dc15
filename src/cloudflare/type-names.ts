import type { Duration } from "../duration.ts";
import type { Backoff } from "../queue/retry-policy.ts";
import type { InstanceStatus as Status } from "../store/instances/instance-records.ts";
import type {
  RetryDelay,
  WorkflowStepRollbackConfig as RollbackConfig,
  WorkflowRollbackContext as RollbackContext,
  WorkflowRollbackHandler as RollbackHandler,
  WorkflowStepRollbackOptions as RollbackOptions,
  WorkflowStep as Step,
  WorkflowStepConfig as StepConfig,
  WorkflowStepContext as StepContext,
} from "../workflows/define/step.ts";
import type { WorkflowEvent as BeginEvent, ReceivedEvent } from "../workflows/define/workflow-event.ts";
import type {
  BatchOptions,
  CreatedBatch,
  CreateOptions,
  DeletedBatch,
} from "../workflows/instances/create/create-options.ts";
import type { WorkflowInstance as Instance, InstanceState } from "../workflows/instances/instance.ts";

/**
 * Types, which people import together with classes and often without saying `type`. Where types are only stripped, as Node
 * does, such an import remains and must resolve, so each type is also a value without any content.
 */
export type WorkflowStep = Step;
export const WorkflowStep: undefined = undefined;

export type WorkflowEvent<Params = unknown> = BeginEvent<Params>;
export const WorkflowEvent: undefined = undefined;

export type WorkflowCronSchedule = NonNullable<BeginEvent<unknown>["schedule"]>;
export const WorkflowCronSchedule: undefined = undefined;

export type WorkflowStepEvent<Payload = unknown> = ReceivedEvent<Payload>;
export const WorkflowStepEvent: undefined = undefined;

export type WorkflowStepConfig = StepConfig;
export const WorkflowStepConfig: undefined = undefined;

export type WorkflowStepSensitivity = NonNullable<StepConfig["sensitive"]>;
export const WorkflowStepSensitivity: undefined = undefined;

export type WorkflowStepContext<Delay = Duration> = StepContext<Delay>;
export const WorkflowStepContext: undefined = undefined;

export type WorkflowDurationLabel = "second" | "minute" | "hour" | "day" | "week" | "month" | "year";
export const WorkflowDurationLabel: undefined = undefined;

export type WorkflowSleepDuration = Duration;
export const WorkflowSleepDuration: undefined = undefined;

export type WorkflowTimeoutDuration = Duration;
export const WorkflowTimeoutDuration: undefined = undefined;

export type WorkflowRetentionDuration = Duration;
export const WorkflowRetentionDuration: undefined = undefined;

export type WorkflowDelayDuration = Duration;
export const WorkflowDelayDuration: undefined = undefined;

export type WorkflowDelayFunction = RetryDelay;
export const WorkflowDelayFunction: undefined = undefined;

export type WorkflowDynamicDelayContext = Parameters<RetryDelay>[0];
export const WorkflowDynamicDelayContext: undefined = undefined;

export type WorkflowBackoff = Backoff;
export const WorkflowBackoff: undefined = undefined;

export type WorkflowStepRollbackConfig = RollbackConfig;
export const WorkflowStepRollbackConfig: undefined = undefined;

export type WorkflowStepRollbackOptions<Output = unknown, Delay = Duration> = RollbackOptions<Output, Delay>;
export const WorkflowStepRollbackOptions: undefined = undefined;

export type WorkflowRollbackContext<Output = unknown, Delay = Duration> = RollbackContext<Output, Delay>;
export const WorkflowRollbackContext: undefined = undefined;

export type WorkflowRollbackHandler<Output = unknown, Delay = Duration> = RollbackHandler<Output, Delay>;
export const WorkflowRollbackHandler: undefined = undefined;

export type WorkflowInstanceStatus = Exclude<Status, "diverged"> | "unknown";
export const WorkflowInstanceStatus: undefined = undefined;

/** The result of `status()`. */
export type InstanceStatus = Pick<InstanceState, "error" | "output" | "rollback"> & {
  readonly status: WorkflowInstanceStatus;
};
export const InstanceStatus: undefined = undefined;

export type WorkflowInstance = Instance;
export const WorkflowInstance: undefined = undefined;

export type WorkflowInstanceCreateOptions<Params = unknown> = CreateOptions<Params>;
export const WorkflowInstanceCreateOptions: undefined = undefined;

export type WorkflowInstanceCreateOptionsWithId<Params = unknown> = CreateOptions<Params> & { readonly id: string };
export const WorkflowInstanceCreateOptionsWithId: undefined = undefined;

/** A binding as Cloudflare's files name it in their `Env`: params may be left out. */
export interface Workflow<Params = unknown> {
  get(id: string): Promise<Instance>;
  create(options?: CreateOptions<Params>): Promise<Instance>;
  createBatch(batch: readonly CreateOptions<Params>[]): Promise<Instance[]>;
  createBatch(batch: BatchOptions<Params>): Promise<CreatedBatch>;
  deleteBatch(instanceIds: readonly string[]): Promise<DeletedBatch>;
}
export const Workflow: undefined = undefined;
