import { LineKind } from "../../lines/line-records.ts";
import {
  type LineMember,
  type LineQuery,
  type ListedLine,
  MOST_COUNTED,
  toLine,
  toLineMember,
} from "../../lines/listed-lines.ts";
import { WorkClass } from "../../queue/work-class.ts";
import { toNumber } from "../../rows.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import { COUNT_SLOTS_HELD, countWaiting, LIST_HOLDERS, LIST_LINES, listWaiting } from "../sql/lines.ts";

/** The rank of a member that hasn't begun says nothing of a time: it is always due. */
const ALWAYS = Number.MAX_SAFE_INTEGER;

/** Inside of a snapshot. */
export function listLines(driver: SqliteDriver, query: LineQuery, now: number): ListedLine[] {
  const { namespace, kind, after, limit, members } = query;
  return driver.all(LIST_LINES, [kind, after, namespace, limit]).map((row) => {
    const line = toLine(row);
    return { ...line, ...readInside(driver, line, members), ...readWaiting(driver, line, members, now) };
  });
}

type Place = ReturnType<typeof toLine>;

function readInside(driver: SqliteDriver, { kind, key }: Place, members: number): Pick<ListedLine, "held" | "holders"> {
  if (kind !== LineKind.slots) return { held: 0, holders: [] };
  const [slots] = driver.all(COUNT_SLOTS_HELD, [key, MOST_COUNTED]);
  return { held: toNumber(slots?.held), holders: driver.all(LIST_HOLDERS, [key, members]).map(toLineMember) };
}

function readWaiting(
  driver: SqliteDriver,
  { kind, key }: Place,
  members: number,
  now: number,
): Pick<ListedLine, "waiting" | "next"> {
  const classes: (readonly [WorkClass, number])[] = [
    [WorkClass.lineContinuing, now],
    [WorkClass.lineFresh, ALWAYS],
  ];
  let waiting = 0;
  const next: LineMember[] = [];
  for (const [which, until] of classes) {
    const [counted] = driver.all(countWaiting(kind), [key, which, until, MOST_COUNTED]);
    waiting += toNumber(counted?.waiting);
    next.push(...driver.all(listWaiting(kind), [key, which, until, members - next.length]).map(toLineMember));
  }
  return { waiting: Math.min(waiting, MOST_COUNTED), next };
}
