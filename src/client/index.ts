export type { CallOptions } from "./call-options.ts";
export type { ClientOptions } from "./client-options.ts";
export { type Client, createClient, type ServedApplication } from "./create-client.ts";
export type { ClientHooks } from "./remote-hooks.ts";
export type { ClientInstances } from "./remote-instances.ts";
export type { ClientJobs } from "./remote-jobs.ts";
export type { ClientSchedules } from "./remote-schedules.ts";
export type { ClientSubjectDispatcher, ClientSubjects } from "./remote-subjects.ts";
