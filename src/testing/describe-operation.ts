import type { HookInsert, HookSettlement } from "../store/hook-records.ts";
import type {
  EventInsert,
  InstanceCommit,
  InstanceInsert,
  InstanceName,
  InstanceOutcome,
  NewEntry,
} from "../store/instance-records.ts";
import type { ScheduleFiring } from "../store/schedule-records.ts";

export interface OperationName {
  /** Of the engine. */
  readonly part: string;
  readonly method: string;
}

/** What is asked of the database, in words. */
export function describeOperation({ part, method }: OperationName, parameter: unknown): string {
  if (part === "instances") return describeInstances(method, parameter);
  if (part === "schedules") return describeSchedules(method, parameter);
  if (method === "insert") return `trigger ${unique((parameter as HookInsert[]).map(({ name }) => name))}`;
  if (method === "settle") {
    return `settle ${unique((parameter as HookSettlement[]).map(({ outcome }) => outcome.kind))}`;
  }
  return method;
}

function describeSchedules(method: string, parameter: unknown): string {
  if (method === "fire") return `fire schedule ${(parameter as ScheduleFiring).name}`;
  return method === "insert" ? "store schedules" : `${method} schedules`;
}

function describeInstances(method: string, parameter: unknown): string {
  if (method === "insert") return `create ${unique((parameter as InstanceInsert[]).map(({ name }) => name))}`;
  if (method === "sendEvents") return `send ${unique((parameter as EventInsert[]).map(({ type }) => type))}`;
  if (method === "commit") return (parameter as InstanceCommit[]).map(describeCommit).join("; ");
  if (CHANGES.includes(method)) return `${method} ${(parameter as InstanceName).name}`;
  return method === "claim" ? "claim workflows" : method;
}

const CHANGES = ["pause", "resume", "terminate", "restart", "delete"];

function describeCommit({ entries, outcome }: InstanceCommit): string {
  return [...entries.map(describeEntry), ...describeOutcome(outcome)].join(", ");
}

function describeEntry({ kind, type, name, count, attempt }: NewEntry): string {
  const step = `${NOUNS[type]} ${name}${count === 1 ? "" : `#${count}`}`;
  return kind === "failed" || kind === "started" ? `${step} ${kind} attempt ${attempt}` : `${step} ${kind}`;
}

const NOUNS: Readonly<Record<NewEntry["type"], string>> = {
  do: "step",
  sleep: "sleep",
  waitForEvent: "wait",
  create: "child",
};

function describeOutcome({ kind }: InstanceOutcome): string[] {
  if (kind === "running") return [];
  if (kind === "parked") return ["park"];
  if (kind === "released") return ["give back"];
  return [kind === "completed" ? "finish" : "finish with an error"];
}

function unique(words: readonly string[]): string {
  return [...new Set(words)].join(", ");
}
