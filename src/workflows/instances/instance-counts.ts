import type { InstanceStatus } from "../../store/instances/instance-records.ts";

/** How many instances there are, and how many in each status. */
export type InstanceCounts = Readonly<Record<InstanceStatus | "total", number>>;

/** The same for an application. */
export interface AllInstanceCounts {
  readonly total: InstanceCounts;
  /** By the names of workflows: those that the application has, and those that others have left instances of. */
  readonly workflows: Readonly<Record<string, InstanceCounts>>;
}
