import type { WorkflowCronSchedule } from "../schedules/scheduled-event.ts";

/** What a workflow is run with. */
export interface WorkflowEvent<Params> {
  readonly payload: Readonly<Params>;
  /** When the instance was created. */
  readonly timestamp: Date;
  readonly instanceId: string;
  readonly workflowName: string;
  /** The schedule that created the instance; not there if none did. */
  readonly schedule?: WorkflowCronSchedule;
}

/** An event that was sent to an instance. */
export interface ReceivedEvent<Payload> {
  readonly payload: Readonly<Payload>;
  readonly timestamp: Date;
  readonly type: string;
}

/** Types of events, and what each carries. */
export type EventPayloads = { readonly [Type in string]: unknown };
