import { type InstanceTraits, NO_TRAITS } from "../../store/instances/instance-records.ts";

/** The schedule that created an instance, and for which of its times. */
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
