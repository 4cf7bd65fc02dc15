import { type InstanceTraits, NO_TRAITS } from "../../store/instances/instance-records.ts";

/** The first argument of a workflow's function. */
export interface WorkflowEvent<Params> {
  readonly payload: Readonly<Params>;
  /** When the instance was created. */
  readonly timestamp: Date;
  readonly instanceId: string;
  readonly workflowName: string;
  /** The schedule that created the instance; absent if none did. */
  readonly schedule?: WorkflowCronSchedule;
}

/** An event that was sent to an instance. */
export interface ReceivedEvent<Payload> {
  readonly payload: Readonly<Payload>;
  readonly timestamp: Date;
  readonly type: string;
}

/** Event types, with the payload of each. */
export type EventPayloads = { readonly [Type in string]: unknown };

/** The schedule that created an instance, and the time for which it fired. */
export interface WorkflowCronSchedule {
  readonly cron: string;
  /** In milliseconds since the epoch. */
  readonly scheduledTime: number;
}

export function toTrait(traits: InstanceTraits | null, schedule: WorkflowCronSchedule): InstanceTraits {
  return { ...(traits ?? NO_TRAITS), schedule: JSON.stringify(schedule) };
}

export function fromTrait(schedule: string | null): WorkflowCronSchedule | undefined {
  return schedule === null ? undefined : (JSON.parse(schedule) as WorkflowCronSchedule);
}
