import { type InstanceSituation, MOST_AHEAD } from "../../instances/instance-records.ts";
import { type LineQuestion, toLinePlace, toQueuedInstance } from "../../instances/situation-rows.ts";
import { LineKind } from "../../lines/line-records.ts";
import { toNumber } from "../../rows.ts";
import type { SqliteDriver } from "../drivers/driver.ts";
import { READ_SITUATION } from "../sql/instances-read.ts";
import { COUNT_SLOTS_HELD, countAhead, READ_LINE } from "../sql/lines.ts";

/** Inside of a snapshot. */
export function readSituation(driver: SqliteDriver, ref: string, now: number): InstanceSituation | null {
  const [row] = driver.all(READ_SITUATION, [ref]);
  if (row === undefined) return null;
  const { situation, line } = toQueuedInstance({ ...row, now });
  return { ...situation, line: line === null ? null : toLinePlace(line, readLine(driver, line)) };
}

function readLine(driver: SqliteDriver, { kind, key, before }: LineQuestion): Record<string, unknown> {
  const counts = before.map((place) =>
    driver.all(countAhead(kind), [key, place.class, place.availableAt, place.ref, MOST_AHEAD]),
  );
  const ahead = counts.reduce((total, [row]) => total + toNumber(row?.ahead), 0);
  const [slots] = kind === LineKind.slots ? driver.all(COUNT_SLOTS_HELD, [key, MOST_AHEAD]) : [];
  const [line] = driver.all(READ_LINE, [kind, key]);
  return { ...line, ahead, held: slots?.held ?? 0 };
}
