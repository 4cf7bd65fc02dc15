import { instanceNotFound, PerdureError, WorkflowFailedError, WorkflowTerminatedError } from "../../../errors.ts";
import {
  type EndNotice,
  type InstanceName,
  noticeType,
  type StoredEvent,
} from "../../../store/instances/instance-records.ts";
import { decodeValue, encodeError } from "../../../values/index.ts";
import type { StepRecord } from "../run-journal.ts";
import { EventCall } from "./step-call.ts";
import { pathOf } from "./step-path.ts";

/** The end of the year 9999: the deadline of a wait that has none. */
export const NEVER = 253_402_300_799_999;

/** How the wait for an instance ended: its output, as it is stored, or the error to throw. */
export type ChildResult = { readonly output: string } | { readonly error: unknown };

/**
 * A wait for the end of another instance. The write that ends the instance sends the waiting run an event of a type that only
 * this call waits for. The wait must be registered with that instance before its deadline is written.
 */
export class ResultCall extends EventCall {
  readonly child: InstanceName;
  /** Whether the instance knows that this call waits for its end. */
  registered = false;

  constructor(child: InstanceName, count: number, dueAt: number) {
    const name = `${child.name}/${child.id}`;
    super(name, count, dueAt, noticeType(pathOf({ type: "result", name, count, parent: null })), "result");
    this.child = child;
  }

  override remember(record: StepRecord): void {
    super.remember(record);
    this.registered = this.recorded;
  }

  override get awaits(): null {
    return null;
  }

  override get recordable(): boolean {
    return this.registered && !this.recorded;
  }
}

export function readNotice(event: StoredEvent | undefined): EndNotice {
  if (event !== undefined) return JSON.parse(event.payload) as EndNotice;
  throw new PerdureError("workflow.event_missing", "An event that a step received isn't stored any more.");
}

/** What the waiting code receives. Null: there is no such instance. */
export function toChildResult({ child }: ResultCall, end: EndNotice | null): ChildResult {
  if (end === null || end.status === "deleted") return { error: instanceNotFound(child.name, child.id) };
  if (end.status === "complete") return { output: end.output };
  if (end.status === "errored") return { error: new WorkflowFailedError(child.name, child.id, decodeValue(end.error)) };
  return { error: new WorkflowTerminatedError(child.name, child.id) };
}

/** The error of a wait as it is stored. */
export function storeChildError(error: unknown): string {
  return encodeError(error);
}

/** The error that was stored, as it was thrown: a stored error has no class of ours. */
export function reviveChildError({ child }: ResultCall, value: string): unknown {
  const stored = decodeValue(value) as { readonly code?: unknown; readonly cause?: unknown };
  if (stored?.code === "workflow.failed") return new WorkflowFailedError(child.name, child.id, stored.cause);
  if (stored?.code === "workflow.terminated") return new WorkflowTerminatedError(child.name, child.id);
  return stored?.code === "instance.not_found" ? instanceNotFound(child.name, child.id) : stored;
}

export function resultTimeout({ child }: ResultCall): PerdureError {
  return new PerdureError(
    "result.timeout",
    `The instance "${child.id}" of "${child.name}" wasn't finished in time; it continues to run.`,
  );
}
