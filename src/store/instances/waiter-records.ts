import type { InstanceOutcome } from "./instance-commits.ts";
import type { InstanceName, InstanceRun } from "./instance-identity.ts";

/** A step of a run that waits for the end of another instance. */
export interface Waiter extends InstanceRun {
  /** The type of the event that tells it: no other step of the run has this type. */
  readonly type: string;
}

/** A wait for the end of an instance. */
export interface WaitRequest {
  readonly instance: InstanceName;
  readonly waiter: Waiter;
}

/** How an instance ended, as it is told to its waiters. Values are stored texts. */
export type EndNotice = InstanceRun &
  InstanceName &
  (
    | { readonly status: "complete"; readonly output: string }
    | { readonly status: "errored"; readonly error: string }
    | { readonly status: "terminated" | "deleted" }
  );

/** `waiting`: it isn't finished, and its end will be told. `missing`: there is no such instance. */
export type WaitResult =
  | { readonly result: "waiting" | "missing" }
  | { readonly result: "ended"; readonly end: EndNotice };

/** No event of a caller's has a type that begins like this. */
const NOTICE_PREFIX = "$end ";

/** The type of the event that tells a step of the end that it waits for. */
export function noticeType(path: string): string {
  return `${NOTICE_PREFIX}${path}`;
}

export function isNotice(type: string): boolean {
  return type.startsWith(NOTICE_PREFIX);
}

/** The waiters as they are stored with the instance that they wait for: `[ref, run, type]` of each. */
export type StoredWaiter = readonly [ref: string, run: number, type: string];

export function toStoredWaiter({ ref, run, type }: Waiter): StoredWaiter {
  return [ref, run, type];
}

export function readWaiters(text: string | null): readonly StoredWaiter[] {
  return text === null ? [] : (JSON.parse(text) as StoredWaiter[]);
}

/** How a commit ends a run; null if it doesn't. */
export function toEndNotice(
  instance: InstanceName,
  { ref, run }: InstanceRun,
  outcome: InstanceOutcome,
): EndNotice | null {
  const { namespace, name, id } = instance;
  const ended = { namespace, name, id, ref, run };
  if (outcome.kind === "completed") return { ...ended, status: "complete", output: outcome.output };
  if (outcome.kind === "errored") return { ...ended, status: "errored", error: outcome.error };
  return outcome.kind === "terminated" ? { ...ended, status: "terminated" } : null;
}

/** The id of the event: an end is told once, however often it is sent. */
export function noticeId({ ref, run }: InstanceRun): string {
  return `$end ${ref} ${run}`;
}
