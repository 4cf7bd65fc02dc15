import type { StepType } from "../../store/instances/instance-records.ts";

/** Tells a step from all others of its run: its type, its name, which call of that name it is, and which step it is inside of. */
export interface StepIdentity {
  readonly type: StepType;
  readonly name: string;
  readonly count: number;
  /** The path of the step that it was called inside of; null for most. */
  readonly parent: string | null;
}

/** A step as people see it. */
export function describeStep({ type, name, count }: Omit<StepIdentity, "parent">): string {
  return count === 1 ? `${type}:${name}` : `${type}:${name}#${count}`;
}

/** A step, with those that it is inside of, as a text that no other step of its run has. */
export function pathOf({ type, name, count, parent }: StepIdentity): string {
  const own = `${type}:${name.replaceAll("/", "//")}#${count}`;
  return parent === null ? own : `${parent}/${own}`;
}
