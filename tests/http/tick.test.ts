import { afterEach, describe, expect, test, vi } from "vitest";
import { perdure } from "../../src/app/perdure.ts";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { DispatchLoop } from "../../src/queue/dispatch-loop.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import { ControlledClock } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { useHttp } from "./support/use-http.ts";

describe.each(ENGINES)("ticks over HTTP on $name", (engine) => {
  const subject = useHttp(engine);
  afterEach(() => vi.restoreAllMocks());

  async function setUp() {
    const ran: string[] = [];
    const note = defineHook({}, async ({ text }: { text: string }) => void ran.push(text));
    const chain = defineWorkflow({ name: "chain" }, async ({ instanceId }, step) => {
      await step.do("one", async () => void ran.push(`${instanceId} one`));
      await step.do("two", async () => void ran.push(`${instanceId} two`));
    });
    const nap = defineWorkflow({ name: "nap" }, async (_event, step) => step.sleep("nap", "1 hour"));
    const app = await subject.start({ hooks: { note }, workflows: { chain, nap }, worker: false });
    return { app, ran };
  }

  test("exist only if the application enables them", async () => {
    const { app } = await setUp();
    expect((await subject.serve(app).post("/_runner/tick")).status).toBe(404);
    expect((await subject.serve(app, { tick: false }).post("/_runner/tick")).status).toBe(404);
  });

  test("run all due work, and report when the next is due", async () => {
    const { app, ran } = await setUp();
    const client = subject.serve(app, { tick: true });
    await app.hooks.note.trigger({ text: "hook" });
    await app.workflows.chain.create({ id: "a" });
    expect(ran).toEqual([]);

    const first = await client.post("/_runner/tick");

    expect([first.status, first.body]).toEqual([200, { nextWakeAt: null }]);
    expect(ran.toSorted()).toEqual(["a one", "a two", "hook"]);
    await app.workflows.nap.create({ id: "b" });
    const second = await client.post<{ nextWakeAt: string }>("/_runner/tick");
    const inAnHour = Date.parse(second.body.nextWakeAt) - Date.now();
    expect(inAnHour).toBeGreaterThan(3_000_000);
    expect(inAnHour).toBeLessThanOrEqual(3_600_000);
  });

  test("of several handlers at once run all work once, including work that came meanwhile", async () => {
    const { app, ran } = await setUp();
    const clients = [1, 2, 3].map(() => subject.serve(app, { tick: { deadlineMs: 20_000 } }));
    const ids = Array.from({ length: 20 }, (_, index) => `i${index}`);
    const ticks: Promise<{ status: number }>[] = [];
    for (const id of ids) {
      await app.workflows.chain.create({ id });
      ticks.push(...clients.map((client) => client.post("/_runner/tick")));
    }

    const replies = await Promise.all(ticks);

    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect(ran.toSorted()).toEqual(ids.flatMap((id) => [`${id} one`, `${id} two`]).toSorted());
  });

  test("that are requested during a tick share the next one, which sees all newer work", async () => {
    const clock = new ControlledClock();
    const ran: string[] = [];
    const stuck = Promise.withResolvers<void>();
    const note = defineHook({}, async ({ text }: { text: string }) => {
      ran.push(text);
      if (ran.length === 1) await stuck.promise;
    });
    const open = () => {
      const database = subject.database?.reopen({ clock });
      if (database === undefined) throw new Error("There is no database.");
      return perdure({ database, hooks: { note }, namespace: "shared", worker: false, logger: subject.logs });
    };
    await using app = await open();
    await using elsewhere = await open(); // this process isn't told of its triggers
    const client = subject.serve(app, { tick: { deadlineMs: 5000 } });
    const drains = vi.spyOn(DispatchLoop.prototype, "drain");
    await app.hooks.note.trigger({ text: "slow" });
    const first = client.post("/_runner/tick");
    await waitUntil("the first is under way", () => ran.length === 1);

    await elsewhere.hooks.note.trigger({ text: "late" });
    const others = [1, 2, 3].map(() => client.post("/_runner/tick"));
    await clock.advanceAndSettle(5000); // it gives up what is stuck, and looks for nothing else

    expect((await first).status).toBe(200);
    expect(new Set((await Promise.all(others)).map(({ status }) => status))).toEqual(new Set([200]));
    expect(ran.toSorted()).toEqual(["late", "slow", "slow"]);
    expect(drains).toHaveBeenCalledTimes(2);
    stuck.resolve();
  });

  test("of an application without hooks and workflows do nothing", async () => {
    const app = await subject.start({ worker: false });
    expect((await subject.serve(app, { tick: true }).post("/_runner/tick")).body).toEqual({ nextWakeAt: null });
  });
});
