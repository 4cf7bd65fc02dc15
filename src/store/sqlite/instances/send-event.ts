import type { EventInsert, EventInsertResult } from "../../instances/instance-records.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import {
  COUNT_PENDING_EVENTS,
  FIND_ENDED_TOKEN,
  FIND_EVENT,
  FIND_RECIPIENT,
  INSERT_EVENT,
  WAKE_INSTANCE,
} from "../sql/events.ts";
import { FIND_RANK } from "../sql/instances-change.ts";
import { isIn, keyOf } from "./instance-operations.ts";
import { joinLine, toRankedInstance } from "./lines.ts";

type Row = Record<string, unknown>;

/** Stores an event and makes its instance due. */
export function sendEvent(driver: SqliteDriver, event: EventInsert, now: number): EventInsertResult {
  const [recipient] = driver.all(FIND_RECIPIENT, keyOf(event));
  if (recipient === undefined) return { result: "missing" };
  const { ref, run, sequence } = recipient as { ref: string; run: number; sequence: number };
  if (event.only !== undefined && !isIn({ ref, run }, event.only)) return { result: "missing" };
  if (recipient.outcome !== null) {
    const known = driver.all(FIND_EVENT, [ref, run, event.eventId]).length > 0; // sent again: it came in time
    return known ? { result: "known", ref } : { result: "finished" };
  }
  if (event.token !== undefined && isOver(driver, event, recipient, now)) return { result: "over" };
  if (sequence > (event.maxPending ?? Number.POSITIVE_INFINITY) && isFull(driver, event, ref, run))
    return { result: "full" };
  const parameters = [ref, run, event.eventId, sequence, event.type, event.payload, now];
  if (driver.run(INSERT_EVENT, parameters) === 0) return { result: "known", ref };
  driver.run(WAKE_INSTANCE, [now, ref]);
  if (Number(recipient.class) >= WorkClass.lineContinuing && !recipient.paused) {
    joinLine(driver, toRankedInstance(driver.all(FIND_RANK, keyOf(event))[0] as Row), now);
  }
  return { result: "sent", ref };
}

/** Whether the wait of a token is over, and the run doesn't have its event. */
function isOver(driver: SqliteDriver, { eventId, token }: EventInsert, recipient: Row, now: number): boolean {
  const {
    ref,
    run,
    rolling_back: rollingBack,
  } = recipient as { ref: string; run: number; rolling_back: string | null };
  if (driver.all(FIND_EVENT, [ref, run, eventId]).length > 0 || token === undefined) return false;
  return rollingBack !== null || driver.all(FIND_ENDED_TOKEN, [ref, run, token.name, token.count, now]).length > 0;
}

/** Whether there is no room for an event that the run doesn't have. */
function isFull(driver: SqliteDriver, { eventId, maxPending = 0 }: EventInsert, ref: string, run: number): boolean {
  const [count] = driver.all(COUNT_PENDING_EVENTS, [ref, run]);
  return Number(count?.pending) >= maxPending && driver.all(FIND_EVENT, [ref, run, eventId]).length === 0;
}
