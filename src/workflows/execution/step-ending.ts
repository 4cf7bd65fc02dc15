import { EventTimeoutError, PerdureError } from "../../errors.ts";
import type { JournalEntry, StoredEvent } from "../../store/instances/instance-records.ts";
import { decodeValue } from "../../values/index.ts";
import { RollbackCall } from "../rollback/rollback-call.ts";
import type { EventBox } from "./event-box.ts";
import type { StepCall, StepEnding } from "./step-call.ts";
import { describeStep, type StepIdentity } from "./step-path.ts";

/** How a step ended that is in the journal. */
export function storedEnding(call: StepCall, { kind, value, event }: JournalEntry, events: EventBox): StepEnding {
  if (kind === "failed") return { error: decodeValue(value as string) };
  if (kind === "timedOut") return { error: eventTimeout(call) };
  if (kind === "received") return { value: toReceived(events.get(event as number)) };
  return { value: value === null || call.type === "sleep" ? undefined : decodeValue(value) };
}

/** What a step's function gave, as its caller gets it: a copy, the same that a replay would give. `text` is how it is stored. */
export function liveValue(value: unknown, text: string | null): unknown {
  const primitive = value === null || (typeof value !== "object" && typeof value !== "function");
  return primitive ? value : decodeValue(text as string);
}

/** An event as a workflow sees it. */
export function toReceived(event: StoredEvent | undefined): unknown {
  if (event === undefined) {
    throw new PerdureError("workflow.event_missing", "An event that was received isn't stored any more.");
  }
  return { payload: decodeValue(event.payload), timestamp: new Date(event.at), type: event.type };
}

export function eventTimeout({ name }: Pick<StepIdentity, "name">): EventTimeoutError {
  return new EventTimeoutError(`No event came in time for the step "${name}".`);
}

export function stepInterrupted(call: StepCall): PerdureError {
  const [code, what] =
    call instanceof RollbackCall ? ["rollback.interrupted", "rollback of the step"] : ["step.interrupted", "step"];
  return new PerdureError(
    code,
    `The ${what} ${describeStep(call)} has no attempt left: the last one was lost with its process, and may be what ends it.`,
  );
}

export function rollbackMissing(step: StepIdentity): PerdureError {
  return new PerdureError(
    "rollback.missing",
    `The step ${describeStep(step)} had a rollback when it began, but this code didn't give it one: it wasn't called, or has none any more.`,
  );
}

export function crashLoop(recoveries: number): PerdureError {
  return new PerdureError(
    "workflow.crash_loop",
    `The instance was lost with its process ${recoveries} times in a row, with nothing done in between: it may be what ends the process.`,
  );
}
