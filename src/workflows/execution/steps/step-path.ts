import type { StepType } from "../../../store/instances/instance-records.ts";

/**
 * Tells a step from all others of its run: its type, its name, the number of the call with that name, and the step around it.
 */
export interface StepIdentity {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  /** The path of the step that it was called inside; null for most. */
  readonly parent: string | null;
}

/** A step as operators see it. */
export function describeStep({ type, name, count }: Omit<StepIdentity, "parent">): string {
  return count === 1 ? `${type}:${name}` : `${type}:${name}#${count}`;
}

/** A step, with the steps around it, as a text that no other step of its run has. */
export function pathOf({ type, name, count, parent }: StepIdentity): string {
  const own = `${type}:${name.replaceAll("/", "//")}#${count}`;
  return parent === null ? own : `${parent}/${own}`;
}
