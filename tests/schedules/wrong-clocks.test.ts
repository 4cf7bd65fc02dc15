import { describe, expect, test } from "vitest";
import { perdure } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { eventually } from "../hooks/support/use-hooks.ts";
import { createDatabase } from "../support/postgres-database.ts";
import { WRONG_CLOCKS } from "../support/wrong-clocks.ts";
import { HOUR, scheduled } from "./support/scheduled.ts";

describe.each(WRONG_CLOCKS)("a process whose clock is hours %s, on postgres", (_, clock) => {
  test("fires schedules by the database's time", async () => {
    const database = await createDatabase();
    const wrong = postgres(database.url, { clock });
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
