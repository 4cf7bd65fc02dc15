import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { defineWorkflow } from "../../src/workflows/define-workflow.ts";
import { ENGINES } from "../support/engines.ts";
import { useHttp } from "./support/use-http.ts";

describe.each(ENGINES)("ticks over HTTP on $name", (engine) => {
  const subject = useHttp(engine);

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

  test("aren't there unless they are wanted", async () => {
    const { app } = await setUp();
    expect((await subject.serve(app).post("/_runner/tick")).status).toBe(404);
    expect((await subject.serve(app, { tick: false }).post("/_runner/tick")).status).toBe(404);
  });

  test("run what is due, and say when something is due next", async () => {
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

  test("many at once, of several handlers, run everything once, also what came while one was under way", async () => {
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

  test("of an application with nothing to run have nothing to do", async () => {
    const app = await subject.start({ worker: false });
    expect((await subject.serve(app, { tick: true }).post("/_runner/tick")).body).toEqual({ nextWakeAt: null });
  });
});
