import type { HookInsert, HookSettlement } from "../store/hooks/hook-records.ts";
import type {
  EventInsert,
  InstanceCommit,
  InstanceInsert,
  InstanceName,
  InstanceOutcome,
  NewEntry,
} from "../store/instances/instance-records.ts";
import type { ScheduleFiring } from "../store/schedules/schedule-records.ts";

export interface OperationName {
  /** Of the engine. */
  readonly part: string;
  readonly method: string;
}

/** Describes a request to the database in words. */
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

const CHANGES = ["pause", "resume", "terminate", "rollBack", "restart", "delete"];

function describeCommit({ entries, outcome }: InstanceCommit): string {
  return [...entries.map(describeEntry), ...describeOutcome(outcome)].join(", ");
}

function describeEntry({ kind, type, name, count, attempt }: NewEntry): string {
  const step = `${NOUNS[type]} ${name}${count === 1 ? "" : `#${count}`}`;
  const what = WORDS[kind] ?? kind;
  return kind.toLowerCase().endsWith("failed") || kind.endsWith("tarted")
    ? `${step} ${what} attempt ${attempt}`
    : `${step} ${what}`;
}

const WORDS: Partial<Record<NewEntry["kind"], string>> = {
  undoable: "begins, and can be rolled back",
  rollingBack: "begins",
  rollbackStarted: "rollback started",
  rolledBack: "rolled back",
  rollbackFailed: "rollback failed",
};

const NOUNS: Readonly<Record<NewEntry["type"], string>> = {
  do: "step",
  sleep: "sleep",
  waitForEvent: "wait",
  create: "child",
  result: "wait for",
  token: "token",
  rollback: "rollback of",
};

function describeOutcome({ kind }: InstanceOutcome): string[] {
  if (kind === "running") return [];
  if (kind === "parked") return ["park"];
  if (kind === "released") return ["give back"];
  if (kind === "rollingBack") return ["keep the error"];
  if (kind === "terminated") return ["finish as terminated"];
  return [kind === "completed" ? "finish" : "finish with an error"];
}

function unique(words: readonly string[]): string {
  return [...new Set(words)].join(", ");
}
