import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { postgres } from "../../src/store/postgres/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { FIRE_SCHEDULE } from "../support/cut-texts.ts";
import { type Cut, CuttingProxy } from "../support/cutting-proxy.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";
import { useWorkflows, withTime } from "../workflows/support/use-workflows.ts";
import { BEGIN, idsOf, MINUTE, moveTo, scheduled, stored } from "./support/scheduled.ts";

describe("schedules behind a network that cuts connections", () => {
  const subject = useWorkflows(ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine);
  let proxy: CuttingProxy;

  beforeEach(async () => {
    proxy = await CuttingProxy.start(subject.database?.location as string);
  });

  afterEach(() => proxy.stop());

  test.each<Cut>(["answer", "request"])("fire each time once, though the %s of it is lost", async (lost) => {
    const { workflow, events } = scheduled({ cron: "* * * * *", name: "each" });
    const behindProxy = () => postgres(proxy.url, { clock: subject.clock, logger: new LogBook() });
    const processes = [1, 2].map(() => subject.start({ report: workflow }, { adapter: behindProxy() }));
    const outside = subject.process({ report: workflow });
    await stored(outside);
    const failures = () =>
      processes.flatMap(({ errors }) => errors.map(({ error }) => (error as { code?: string }).code));

    const times = [1, 2, 3, 4, 5, 6].map((minute) => BEGIN + minute * MINUTE);
    for (const [index, time] of times.entries()) {
      const cut = proxy.cut(FIRE_SCHEDULE, lost);
      moveTo(subject, time);
      await withTime(subject.clock, () => expect(events).toHaveLength(index + 1));
      await cut;
    }

    expect(failures().filter((code) => code === "store.unavailable")).toHaveLength(times.length);
    expect(await idsOf(outside)).toEqual(times.map((time) => `each:${new Date(time).toISOString()}`));
    expect(events.map(({ schedule }) => schedule?.scheduledTime)).toEqual(times);
    expect((await stored(outside))[0]).toMatchObject({
      lastAt: new Date(times.at(-1) as number),
      nextAt: new Date((times.at(-1) as number) + MINUTE),
    });
  });
});
