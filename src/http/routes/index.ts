import { createDocument } from "../schemas/openapi.ts";
import { createBatch, createInstance } from "./create-instances.ts";
import { createOrSend, sendEvent, sendEventToAll } from "./events.ts";
import { explainHook, explainInstance } from "./explain.ts";
import { readLiveness, readReadiness } from "./health.ts";
import { readHistory } from "./history.ts";
import { cancelHooks, discardHooks, getHook, listHooks, redriveHooks } from "./hooks.ts";
import { deleteBatch, restartOrCreate } from "./instance-batches.ts";
import {
  deleteInstance,
  getInstance,
  pauseInstance,
  restartInstance,
  resumeInstance,
  retryInstance,
  terminateInstance,
} from "./instances.ts";
import { listLines } from "./lines.ts";
import { listAllInstances, listInstances } from "./list-instances.ts";
import { readActivity, readMetrics } from "./metrics.ts";
import { defineRoute, type Route } from "./route.ts";
import { listSchedules, pauseSchedule, resumeSchedule, runSchedule } from "./schedules.ts";
import { readStatistics } from "./statistics.ts";
import { getSubject, listDispatchers, listSubjects, makeSubjectDue, releaseSubject } from "./subjects.ts";
import { subscribe } from "./subscribe.ts";
import { tick } from "./tick.ts";
import { completeToken } from "./tokens.ts";
import { listUnclaimed, listWorkers } from "./workers.ts";
import { listVersions, listWorkflows, readSchemas } from "./workflows.ts";

/** What every handler serves. */
export const ROUTES: readonly Route[] = [
  listWorkflows,
  listVersions,
  readSchemas,
  listAllInstances,
  listInstances,
  createInstance,
  createBatch,
  deleteBatch,
  restartOrCreate,
  getInstance,
  deleteInstance,
  pauseInstance,
  resumeInstance,
  terminateInstance,
  restartInstance,
  retryInstance,
  sendEvent,
  sendEventToAll,
  createOrSend,
  completeToken,
  explainInstance,
  readHistory,
  subscribe,
  listHooks,
  getHook,
  explainHook,
  redriveHooks,
  discardHooks,
  cancelHooks,
  listDispatchers,
  listSubjects,
  getSubject,
  releaseSubject,
  makeSubjectDue,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
  runSchedule,
  readStatistics,
  listLines,
  listWorkers,
  readMetrics,
  readActivity,
  listUnclaimed,
  readLiveness,
  readReadiness,
];

/** The routes of one handler, with the document that describes them. */
export function createRoutes(options: { readonly basePath: string; readonly tick: boolean }): readonly Route[] {
  const routes = [...ROUTES, ...(options.tick ? [tick] : [])];
  const readDocument = defineRoute({
    method: "GET",
    path: "/openapi.json",
    name: "readDocument",
    summary: "This document.",
    operation: "read",
    resource: () => ({ kind: "application" }),
    asksDatabase: false,
    forNarrowed: "theSame",
    answers: { 200: { description: "OpenAPI 3.1.", schema: { type: "object" } } },
    handle: async () => ({ status: 200, body: document }),
  });
  const all = [...routes, readDocument];
  const document = createDocument(all, options.basePath);
  return all;
}
