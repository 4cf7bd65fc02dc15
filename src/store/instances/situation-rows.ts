import { LineKind } from "../lines/line-records.ts";
import { WorkClass } from "../queue/work-class.ts";
import { toNumber, toNumberOrNull } from "../rows.ts";
import type { InstanceSituation, LinePlace } from "./instance-views.ts";

/** The members of a line before this place have the class, and an earlier time or, at the same time, a smaller ref. */
interface PlaceInClass {
  readonly class: WorkClass;
  readonly availableAt: number;
  readonly ref: string;
}

/** The line in which an instance stands, and which members come before it. */
export interface LineQuestion {
  readonly kind: LineKind;
  readonly key: string;
  readonly before: readonly PlaceInClass[];
}

interface QueuedInstance {
  readonly situation: Omit<InstanceSituation, "line">;
  /** Null if it doesn't stand in line, or isn't due in it. */
  readonly line: LineQuestion | null;
}

export function toQueuedInstance(row: Record<string, unknown>): QueuedInstance {
  const situation = {
    now: toNumber(row.now),
    class: toNumber(row.class) as WorkClass,
    lock: row.lock as string | null,
    pausedBy: row.paused_by as string | null,
  };
  const availableAt = toNumberOrNull(row.available_at);
  return { situation, line: availableAt === null ? null : askLine(row, situation, availableAt) };
}

function askLine(
  row: Record<string, unknown>,
  { now, class: own }: Omit<InstanceSituation, "line">,
  availableAt: number,
): LineQuestion | null {
  const ref = row.ref as string;
  const slotKey = row.slot_key as string | null;
  const key = slotKey ?? (row.rate_key as string | null);
  if (key === null || own < WorkClass.lineContinuing || availableAt > now) return null;
  const kind = slotKey === null ? LineKind.starts : LineKind.slots;
  const place = { class: own, availableAt, ref };
  // Members that have begun and are due come before all that have not.
  const begun = { class: WorkClass.lineContinuing, availableAt: now + 1, ref: "" };
  return { kind, key, before: own === WorkClass.lineFresh && kind === LineKind.slots ? [begun, place] : [place] };
}

export function toLinePlace({ kind, key }: LineQuestion, row: Record<string, unknown>): LinePlace {
  return {
    kind,
    key,
    ahead: toNumber(row.ahead),
    held: toNumber(row.held),
    lookAt: toNumberOrNull(row.available_at ?? null),
  };
}
