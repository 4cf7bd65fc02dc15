import type { EventInsert, EventInsertResult } from "./event-records.ts";
import type { InstanceChange } from "./instance-views.ts";

/** Its receipt was there. */
export const REPEATED: InstanceChange = { changed: false, instance: null, repeated: true };

/** Whether a receipt is due: for a change that was made, or that had nothing to do. A refused change may be requested again. */
export function isAnswered({ changed, instance }: InstanceChange): boolean {
  return changed || (instance !== null && instance.finishedAt === null);
}

/** The same of a restart, which is looked at again where another one came first. */
export function isRestarted({ changed }: InstanceChange): boolean {
  return changed;
}

/** The same of an event: the run has it. That of a token may be another caller's. */
export function isDelivered({ result }: EventInsertResult, { token }: EventInsert): boolean {
  return result === "sent" || (result === "known" && token === undefined);
}
