import type { WorkflowStep as Step } from "../workflows/step.ts";
import type {
  WorkflowStepConfig as StepConfig,
  WorkflowStepContext as StepContext,
} from "../workflows/step-options.ts";
import type { WorkflowEvent as BeginEvent, ReceivedEvent } from "../workflows/workflow-event.ts";

/**
 * Types, which people import together with classes and often without saying `type`. Where types are only stripped, as Node does,
 * such an import remains, and must find something: so each of them is a value, too, of which there is nothing to be had.
 */
export type WorkflowStep = Step;
export const WorkflowStep: undefined = undefined;

export type WorkflowEvent<Params = unknown> = BeginEvent<Params>;
export const WorkflowEvent: undefined = undefined;

export type WorkflowStepConfig = StepConfig;
export const WorkflowStepConfig: undefined = undefined;

export type WorkflowStepContext = StepContext;
export const WorkflowStepContext: undefined = undefined;

export type WorkflowStepEvent<Payload = unknown> = ReceivedEvent<Payload>;
export const WorkflowStepEvent: undefined = undefined;
