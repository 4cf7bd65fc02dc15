import type { NewEntry } from "../../store/instances/instance-records.ts";
import {
  decodeValue,
  encodeError,
  encodeValue,
  markCaused,
  markDelayed,
  markSensitive,
  StreamReference,
  tame,
} from "../../values/index.ts";
import type { CodeRun } from "./code-run.ts";
import type { DatabaseTime } from "./database-time.ts";
import { type AttemptEnd, liveValue } from "./endings.ts";
import type { RunLimits } from "./run-limits.ts";
import type { BodyCall } from "./steps/step-call.ts";
import { pathOf } from "./steps/step-path.ts";

/** What the end of an attempt does to its step: it completes, fails for good, or is tried again when `call.dueAt` has come. */
export type StepUpdate =
  | { readonly kind: "completed"; readonly entry: NewEntry; readonly value: unknown }
  | { readonly kind: "failed"; readonly entry: NewEntry; readonly error: unknown }
  /** `error` is the one that the attempt threw. */
  | { readonly kind: "retried"; readonly entry: NewEntry; readonly error: unknown };

/** An attempt gave this value: how it is stored, or, if it can't be stored, the failure of the step. */
export function endWithValue(call: BodyCall, value: unknown, limits: RunLimits): AttemptEnd {
  try {
    const text = encodeResult(call, value, limits);
    const stored = call.policy.sensitive ? markSensitive(text ?? encodeValue(undefined)) : text;
    return { call, value, text: stored };
  } catch (error) {
    return { call, error: tame(error), delay: null };
  }
}

/** What the end of an attempt comes to. A result that the journal has no room for is a failure; so is a retry. */
export function toUpdate(end: AttemptEnd, limits: RunLimits, time: DatabaseTime, code: CodeRun): StepUpdate {
  const { call } = end;
  if ("error" in end) return toFailure(call, end.error, end.delay, limits, time, code);
  const { value, text } = end;
  if (!limits.takes(text)) return toFailure(call, limits.refusal(), null, limits, time, code);
  if (call.rollback !== null) call.output = text;
  const entry = call.entry("completed", { attempt: call.attempt, value: text });
  return { kind: "completed", entry, value: liveValue(value, text) };
}

function toFailure(
  call: BodyCall,
  thrown: unknown,
  delay: number | null,
  limits: RunLimits,
  time: DatabaseTime,
  code: CodeRun,
): StepUpdate {
  const value = markCaused(encodeError(thrown), code.failedSteps(thrown, pathOf(call)));
  if (delay === null) {
    const entry = call.entry("failed", { attempt: call.attempt, value });
    return { kind: "failed", entry, error: decodeValue(value) };
  }
  if (!limits.takes(value)) return toFailure(call, limits.refusal(thrown), null, limits, time, code);
  call.dueAt = time.after(delay);
  const marked = markDelayed(value, Math.ceil(delay), call.policy.limit + 1);
  const retried = { attempt: call.attempt, value: marked, dueAt: call.dueAt };
  return { kind: "retried", entry: call.entry("failed", retried), error: thrown };
}

function encodeResult(call: BodyCall, value: unknown, limits: RunLimits): string | null {
  if (value === undefined) return null;
  return value instanceof StreamReference ? value.text : limits.encodeStepResult(call.name, value);
}
