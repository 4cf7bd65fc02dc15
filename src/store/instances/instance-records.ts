/** Everything that a store takes and gives of workflow instances, by what it is about. */
export type * from "./event-records.ts";
export type * from "./instance-commits.ts";
export type * from "./instance-identity.ts";
export * from "./instance-inserts.ts";
export type * from "./instance-leases.ts";
export * from "./instance-versions.ts";
export * from "./instance-views.ts";
export type * from "./journal-records.ts";
export * from "./waiter-records.ts";
