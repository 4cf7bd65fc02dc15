import { expect, test } from "vitest";
import { createTestApp, exploreCrashes } from "../../src/testing/index.ts";
import { BEGIN, HOUR, scheduled } from "./support/scheduled.ts";

test("a crash at any commit loses no time of a schedule, and no time comes twice", async () => {
  const report = await exploreCrashes(
    {
      setUp() {
        const { workflow, events } = scheduled({ cron: "0 */6 * * *", name: "quarterly" });
        return { workflows: { report: workflow }, events, startAt: new Date(BEGIN) };
      },
      run: async () => {},
      async check(app, { events }) {
        const { instances } = await app.workflows.report.list({ order: "oldest" });
        const ran = new Set(events.map(({ instanceId }) => instanceId));
        return { ids: instances.map(({ id, status }) => `${id} ${status}`), ran: ran.size };
      },
    },
    { finishWithin: "27 hours" },
  );

  const firings = report.outcomes.flatMap(({ crashes }) => crashes).map(({ during }) => during);
  expect(firings.filter((during) => during === "fire schedule quarterly")).toHaveLength(2 * 4);
  expect(firings).toContain("store schedules");
  const times = ["06T18", "07T00", "07T06", "07T12"];
  const ids = times.map((time) => `quarterly:2031-05-${time}:00:00.000Z complete`);
  expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([{ ids, ran: 4 }]);
});

test("the test kit fires schedules when their time comes", async () => {
  const { workflow, events } = scheduled("0 9 * * *");
  await using app = await createTestApp({ workflows: { report: workflow }, startAt: new Date(BEGIN) });
  await app.advance("20 hours");
  expect(events).toEqual([]);
  await app.advance("1 hour");
  expect(events).toMatchObject([{ schedule: { scheduledTime: BEGIN + 21 * HOUR } }]);
  await app.advance("2 days");
  expect(events).toHaveLength(3);
});
