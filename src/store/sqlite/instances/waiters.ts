import {
  BOUND_CHILDREN,
  type EndNotice,
  endedParentTrigger,
  hasBoundChildren,
  type InstanceRecord,
  noticeId,
  readWaiters,
  toStoredWaiter,
  type WaitRequest,
  type WaitResult,
} from "../../instances/instance-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import { INSERT_EVENT, WAKE_INSTANCE } from "../sql/events.ts";
import { hookValues, INSERT_HOOK } from "../sql/hooks-trigger.ts";
import { FIND_AWAITED, FIND_WAITER, WRITE_WAITERS } from "../sql/waiters.ts";
import { joinLine, toRankedInstance } from "./lines.ts";

type Row = Record<string, unknown>;

/** Stores that a run waits for the end of an instance, or gives that end. */
export function awaitEnd(driver: SqliteDriver, { instance, waiter }: WaitRequest): WaitResult {
  const { namespace, name, id } = instance;
  const [found] = driver.all(FIND_AWAITED, [namespace, name, id]);
  if (found === undefined) return { result: "missing" };
  const end = toEnd({ namespace, name, id }, found);
  if (end !== null) return { result: "ended", end };
  const waiters = readWaiters(found.waiters as string | null);
  const known = waiters.some(([ref, run, type]) => ref === waiter.ref && run === waiter.run && type === waiter.type);
  if (!known) driver.run(WRITE_WAITERS, [JSON.stringify([...waiters, toStoredWaiter(waiter)]), found.ref as string]);
  return { result: "waiting" };
}

/** The end of a finished instance; null while it isn't. */
export function toEnd(name: Pick<InstanceRecord, "namespace" | "name" | "id">, row: Row): EndNotice | null {
  const ended = { ...name, ref: row.ref as string, run: Number(row.run) };
  if (row.status === "complete") return { ...ended, status: "complete", output: row.output as string };
  if (row.status === "errored") return { ...ended, status: "errored", error: row.error as string };
  return row.status === "terminated" ? { ...ended, status: "terminated" } : null;
}

/** Sends the end of an instance to those that wait for it, and makes them due. Returns their refs. */
export function tellWaiters(driver: SqliteDriver, waiters: string, end: EndNotice, now: number): string[] {
  driver.run(WRITE_WAITERS, [null, end.ref]);
  const payload = JSON.stringify(end);
  const stored = readWaiters(waiters);
  const bound = hasBoundChildren(stored) ? [BOUND_CHILDREN.ref] : [];
  if (bound.length > 0) driver.run(INSERT_HOOK, hookValues(endedParentTrigger(end), now));
  const woken = stored.flatMap(([ref, run, type]) => {
    const [waiting] = driver.all(FIND_WAITER, [ref, run]);
    if (waiting === undefined) return [];
    const event = [ref, run, `${noticeId(end)} ${type}`, Number(waiting.sequence), type, payload, now];
    if (driver.run(INSERT_EVENT, event) === 0) return [];
    driver.run(WAKE_INSTANCE, [now, ref]);
    if (Number(waiting.class) >= WorkClass.lineContinuing && !waiting.paused) {
      joinLine(driver, toRankedInstance(waiting), now);
    }
    return [ref];
  });
  return [...woken, ...bound];
}
