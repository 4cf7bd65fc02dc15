import type { HookInsert } from "../hooks/hook-records.ts";
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

/** How an instance ended, as its waiters receive it. Values are stored texts. */
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

/** The id of the event: an end is delivered once, however often it is sent. */
export function noticeId({ ref, run }: InstanceRun): string {
  return `$end ${ref} ${run}`;
}

/**
 * Stored among the waiters of an instance with children that end with it: its end triggers the hook `ENDED_PARENT`, in the same
 * transaction. No run has this ref. Those who are told which waiters were woken learn by it that there is work.
 */
export const BOUND_CHILDREN: Waiter = { ref: "", run: 0, type: "$children" };

/** The hook that ends the children of a parent that has ended. No hook of an application can have this name. */
export const ENDED_PARENT = "$parent.ended";

/** The label of children that end with their parent. Its value is the parent's ref. No label of a caller has this key. */
export const PARENT_LABEL = "$parent";

/** The payload of `ENDED_PARENT`. */
export type EndedParent = InstanceRun;

/** The trigger of `ENDED_PARENT`: one for each end. */
export function endedParentTrigger({ namespace, ref, run }: EndNotice): HookInsert {
  const payload: EndedParent = { ref, run };
  return {
    namespace,
    id: `${ENDED_PARENT}/${ref}/${run}`,
    name: ENDED_PARENT,
    key: null,
    ownId: false,
    triggers: 1,
    triggeredAt: null,
    payload: JSON.stringify(payload),
    retries: null,
    trace: null,
    processAt: null,
    debounce: null,
    lease: null,
  };
}

export function hasBoundChildren(waiters: readonly StoredWaiter[]): boolean {
  return waiters.some(([ref]) => ref === BOUND_CHILDREN.ref);
}
