import { LineKind } from "../lines/line-records.ts";
import { WorkClass } from "../queue/work-class.ts";
import type { SqliteDriver } from "./driver.ts";
import { FREE_SLOT, JOIN_LINE } from "./sql/lines.ts";

/** Where an instance stands, and what it shares with others. */
export interface InstancePlace {
  readonly class: WorkClass;
  readonly namespace: string;
  readonly name: string;
  readonly slotKey: string | null;
  readonly rateKey: string | null;
}

export function toPlace(row: Record<string, unknown>): InstancePlace {
  return {
    class: Number(row.class) as WorkClass,
    namespace: row.namespace as string,
    name: row.name as string,
    slotKey: row.slot_key as string | null,
    rateKey: row.rate_key as string | null,
  };
}

/** In the transaction that put an instance into its line, or made one due that stands there: somebody should look. */
export function joinLine(driver: SqliteDriver, place: InstancePlace, now: number): void {
  if (place.class !== WorkClass.lineContinuing && place.class !== WorkClass.lineFresh) return;
  const { slotKey, rateKey, namespace, name } = place;
  const line = slotKey === null ? [LineKind.starts, rateKey] : [LineKind.slots, slotKey];
  driver.run(JOIN_LINE, [...line, namespace, name, now]);
}

/** In the transaction that ended, parked or gave back what held a slot. */
export function freeSlot(driver: SqliteDriver, slotKey: string, now: number): void {
  driver.run(FREE_SLOT, [now, slotKey]);
}
