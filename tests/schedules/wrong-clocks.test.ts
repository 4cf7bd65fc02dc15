import { describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../src/clock.ts";
import { perdure } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { eventually } from "../hooks/support/use-hooks.ts";
import { createDatabase } from "../support/postgres-database.ts";
import { HOUR, scheduled } from "./support/scheduled.ts";

function wrongBy(milliseconds: number): Clock {
  return { ...systemClock, now: () => systemClock.now() + milliseconds };
}

/** Real time passes here: this is about the database's own clock. */
describe.each([
  ["fast", 3 * HOUR],
  ["slow", -3 * HOUR],
])("a process whose clock is hours %s, on postgres", (_, error) => {
  test("fires schedules by the database's time", async () => {
    const database = await createDatabase();
    const wrong = postgres(database.url, { clock: wrongBy(error) });
    try {
      const { workflow, events } = scheduled({ cron: "* * * * * *", name: "each" });
      const options = { workflows: { report: workflow }, logger: new LogBook(), database: wrong };
      await using _app = await perdure(options);
      await eventually(() => expect(events.length).toBeGreaterThanOrEqual(2));

      const times = events.map(({ schedule }) => schedule?.scheduledTime as number);
      expect(times).toEqual([...new Set(times)].sort());
      for (const { schedule, timestamp } of events) {
        expect(timestamp.getTime()).toBeGreaterThanOrEqual(schedule?.scheduledTime as number);
        expect(Math.abs(timestamp.getTime() - Date.now())).toBeLessThan(HOUR);
      }
    } finally {
      await wrong.store.close();
      await database.drop();
    }
  });
});
