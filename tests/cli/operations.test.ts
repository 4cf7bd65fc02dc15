import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { defineSubjects } from "../../src/subjects/define-subjects.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { waitUntil } from "../support/wait-until.ts";
import { TARGETS, useTarget } from "./support/use-targets.ts";

const breaks = defineHook({ retries: { limit: 0 } }, async (payload: { text: string }) => {
  throw new RangeError(`broken by ${payload.text}`);
});
const later = defineHook({}, async (_payload: { text: string }) => {});
const nightly = defineWorkflow(
  { name: "nightly", schedules: [{ cron: "0 2 * * *", name: "night" }] },
  async () => "done",
);

describe.each(TARGETS)("commands about hooks, subjects, schedules and workers on $name", (target) => {
  const subject = useTarget(target);

  test("list, show, redrive and discard dead letters", async () => {
    const app = await subject.start({ hooks: { breaks } });
    for (const text of ["a", "b"]) await app.hooks.breaks.trigger({ text });
    const dead = (count: number) =>
      waitUntil(`there are ${count} dead letters`, async () => {
        const { hooks } = await app.durableHooks.deadLetters();
        return hooks.length === count ? hooks : null;
      });
    const [first] = await dead(2);

    const list = await subject.run("hooks list --status failed");
    expect(list.out).toMatch(/^ID .*\n(.* breaks +failed +1 .*broken by [ab]\n){2}$/);
    const shown = await subject.run(`hooks show ${first?.id}`);
    expect(shown.out).toMatch(/status: +failed\n(.*\n)*payload: +\{ text: 'b' \}/);
    expect((await subject.run("hooks redrive --all --dry-run")).out).toBe("2 would be redriven.\n");
    expect((await subject.run("hooks redrive --all")).code).toBe(2);
    expect((await subject.run("hooks redrive --all --yes")).out).toBe("2 of 2 redriven\n");
    await dead(2);
    const partly = await subject.run(`hooks discard ${first?.id} none --yes`);
    expect(partly).toMatchObject({ code: 8, out: "1 of 2 discarded\n" });
    expect((await subject.run("hooks discard --name breaks --yes --json")).code).toBe(0);
    expect(await subject.run("hooks list")).toMatchObject({ code: 0, out: "No hooks.\n" });
    expect((await subject.run(`hooks show ${first?.id}`)).code).toBe(4);
  });

  test("cancel hooks that wait", async () => {
    const app = await subject.start({ hooks: { later } });
    const processAt = new Date(Date.now() + 3_600_000);
    const { id } = await app.hooks.later.trigger({ text: "a" }, { processAt });
    await app.hooks.later.trigger({ text: "b" }, { processAt, key: "b" });

    expect((await subject.run(`explain ${id}`)).out).toMatch(/^The hook/);
    expect(await subject.run(`hooks cancel ${id}`)).toMatchObject({ code: 0, out: `${id} cancelled\n` });
    expect((await subject.run("hooks cancel --name later --key b")).code).toBe(0);
    expect((await subject.run("hooks cancel --name later --key b")).code).toBe(4);
    expect((await subject.run("hooks cancel --key b")).code).toBe(2);
  });

  test("cancel, redrive and discard all hooks that match a filter, after consent", async () => {
    const app = await subject.start({ hooks: { breaks, later } });
    const processAt = new Date(Date.now() + 3_600_000);
    for (const text of ["a", "b", "c"]) await app.hooks.later.trigger({ text }, { processAt });
    for (const text of ["north", "south"]) await app.hooks.breaks.trigger({ text });
    await waitUntil("both have failed", async () => (await app.durableHooks.statistics()).failed === 2 || null);

    expect((await subject.run("hooks cancel --name later")).code).toBe(2);
    expect((await subject.run("hooks cancel --name later --dry-run")).out).toBe("3 would be cancelled.\n");
    expect((await subject.run("hooks cancel --all --yes")).out).toBe("3 of 3 cancelled\n");
    expect((await subject.run("hooks cancel --all --yes")).out).toBe("No hook matches.\n");
    expect((await subject.run("hooks redrive --error NORTH --dry-run --json")).out).toBe('{"matching":1}\n');
    expect((await subject.run("hooks discard --error south --yes")).out).toBe("1 of 1 discarded\n");
    expect((await subject.run("hooks discard --status completed --yes")).out).toBe("No hook matches.\n");
    expect((await subject.run("hooks discard --all 01abc")).code).toBe(2);
    expect((await app.durableHooks.statistics()).failed).toBe(1);
  });

  test("list, show, release and make subjects due", async () => {
    const stock = defineSubjects({
      every: "1 hour",
      discover: async () => [{ subjectKey: "north" }],
      handle: async () => {},
    });
    const app = await subject.start({ hooks: {}, subjects: { stock }, worker: false });
    const dispatcher = app.subjects.dispatcher("stock");
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "north", nextDueAt: Date.now() + 3_600_000 }] });

    const listed = await subject.run("subjects list stock");
    expect(listed.out).toMatch(/^SUBJECT .*\nnorth .*idle .*in 5\d min/);
    expect((await subject.run("subjects due stock north")).out).toBe("north is due\n");
    const [claimed] = await dispatcher.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
    expect(claimed?.subjectKey).toBe("north");
    expect((await subject.run("subjects due stock north")).code).toBe(5);
    expect((await subject.run("subjects show stock north --json")).out).toContain('"status":"leased"');
    expect((await subject.run("subjects release stock north --revision 1 --yes")).code).toBe(5);
    expect((await subject.run("subjects release stock north --yes")).out).toMatch(/^north is idle, at revision \d+\n$/);
    expect((await subject.run("subjects show stock south")).code).toBe(4);
  });

  test("list, show, pause, resume and run schedules", async () => {
    const app = await subject.start({ workflows: { nightly } });
    await waitUntil("the schedule is stored", async () => (await app.schedules.list()).length > 0 || null);

    expect((await subject.run("schedules list")).out).toMatch(/\nnightly\/night +0 2 \* \* \* +UTC +in /);
    expect((await subject.run("schedules pause nightly/night")).out).toBe("ok nightly/night paused\n");
    expect((await subject.run("schedules show nightly/night")).out).toMatch(/paused: +yes/);
    expect((await subject.run("schedules resume nightly/night")).code).toBe(0);
    expect((await subject.run("schedules show nightly/night --json")).out).toContain('"paused":false');
    expect((await subject.run("schedules pause nightly/day")).code).toBe(4);
    expect((await subject.run("schedules show nightly/day")).code).toBe(4);
    const ran = await subject.run("schedules run nightly/night");
    if (target.served) expect(ran.out).toMatch(/^nightly\/night:\w+\n$/);
    else expect(ran).toMatchObject({ code: 4, err: expect.stringContaining("--app app.ts") });
  });

  test("list and show workers", async () => {
    const app = await subject.start({ workflows: { nightly }, hooks: { later } });
    const [worker] = await waitUntil("the worker is listed", async () => {
      const workers = await app.workers();
      return workers.length > 0 ? workers : null;
    });

    expect((await subject.run("workers list")).out).toMatch(/^WORKER .*\n.* alive .* nightly later\n$/);
    expect((await subject.run(`workers show ${worker?.id}`)).out).toMatch(/hooks: +later\nworkflows: +nightly/);
    expect((await subject.run("workers show none")).code).toBe(4);
  });
});
