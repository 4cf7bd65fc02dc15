import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import type { SubjectState } from "../subjects/subject-state.ts";
import { describeError } from "../values/index.ts";
import type { FloError, FloStatus, FloSubject } from "./types.ts";

/** Fields that hold times: ISO texts here, dates there. */
const TIMES = ["next_due_at"];

/**
 * Checks that there are only these fields, and returns them under our own names: `subject_key` becomes `subjectKey`. Only these
 * names change: the content of a cursor, a meta or an error stays as it is.
 */
export function toCamelCase(input: unknown, label: string, fields: readonly string[]): Record<string, unknown> {
  checkOptions(input, { label, fields, code: "subject.invalid" });
  const entries = Object.entries(input as object)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [
      name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      TIMES.includes(name) ? parseTime(value, name) : value,
    ]);
  return Object.fromEntries(entries);
}

export function toFloSubject<Cursor, Meta>(state: SubjectState<Cursor, Meta>): FloSubject<Cursor, Meta> {
  const { lastSuccessAt, lastFailureAt } = state;
  const finished = [lastSuccessAt, lastFailureAt].filter((time) => time !== null);
  const lastFinishedAt = finished.length === 0 ? null : new Date(Math.max(...finished.map((time) => time.getTime())));
  const given = {
    cursor: state.cursor,
    meta: state.meta,
    next_due_at: toText(state.nextDueAt),
    lease_owner_id: state.leaseOwner,
    lease_expires_at: toText(state.leaseExpiresAt),
    last_error: state.lastError === null ? null : toFloError(state.lastError),
    last_started_at: toText(state.lastStartedAt),
    last_finished_at: toText(lastFinishedAt),
    last_success_at: toText(lastSuccessAt),
  };
  return {
    dispatcher_id: state.dispatcherId,
    subject_key: state.subjectKey,
    status: statusOf(state),
    ...(Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null)) as Partial<typeof given>),
    attempt: state.attempts,
    failure_count: state.consecutiveFailures,
    consecutive_timeouts: state.consecutiveTimeouts,
    revision: state.revision,
    created_at: state.createdAt.toISOString(),
    updated_at: state.updatedAt.toISOString(),
  } as FloSubject<Cursor, Meta>;
}

/** A script's error, or what a handler of ours threw. */
function toFloError(error: unknown): FloError {
  const { code, retryable, continuable } = Object(error) as Record<string, unknown>;
  const { name, message } = describeError(error);
  return {
    code: typeof code === "string" ? code : name,
    message,
    retryable: retryable !== false,
    continuable: continuable !== false,
  };
}

export function checkFloError(error: unknown): FloError {
  const { code, message, retryable, continuable } = Object(error) as Record<string, unknown>;
  const texts = (typeof code === "string" || error instanceof Error) && typeof message === "string";
  const flags = [retryable, continuable].every((flag) => flag === undefined || typeof flag === "boolean");
  if (texts && flags) return toFloError(error);
  throw invalid("error must have a code and a message, both texts; retryable and continuable are true or false");
}

/** A completed subject keeps its status until it is claimed again. A retired subject is `idle` here. */
function statusOf({ status, lastSuccessAt, attempts, consecutiveFailures }: SubjectState): FloStatus {
  if (status !== "idle" && status !== "retired") return status;
  return lastSuccessAt !== null && attempts === 0 && consecutiveFailures === 0 ? "succeeded" : "idle";
}

function toText(time: Date | null): string | null {
  return time?.toISOString() ?? null;
}

function parseTime(value: unknown, name: string): Date {
  const date = typeof value === "string" ? new Date(value) : new Date(Number.NaN);
  if (Number.isFinite(date.getTime())) return date;
  throw invalid(`${name} must be a time as an ISO text: 2031-05-06T12:00:00.000Z`);
}

function invalid(problem: string): InvalidInputError {
  return new InvalidInputError("subject.invalid", `${problem}.`);
}
