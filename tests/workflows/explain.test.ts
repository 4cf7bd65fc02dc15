import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowInstance } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { KNOWN, makeNewer } from "../support/newer-values.ts";
import { replaceProcess, untilParked } from "./support/lose-process.ts";
import { answerOf, STUCK_STATES, StuckWorkflows } from "./support/stuck-states.ts";
import { eventually, LEASE_MS, useWorkflows, withTime } from "./support/use-workflows.ts";

const SECRET = "a secret of more than thirty-two characters";
const tokens = { secret: SECRET };
/** Of each of eleven states, on each engine: over a thousand. */
const OF_EACH = 100;

describe.each(ENGINES)("explain on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each(STUCK_STATES)("says why an instance is stuck: $title", async (state) => {
    const { stuck, child } = new StuckWorkflows();
    const process = subject.start({ stuck, child }, { tokens });
    const now = subject.clock.now();
    const numbers = Array.from({ length: OF_EACH }, (_, index) => index + 1);
    const batch = numbers.map((number) => ({ id: `stuck-${number}`, params: { how: state.how, number } }));
    const instances = (await process.workflows.stuck.createBatch(batch)) as unknown as WorkflowInstance[];
    for (const [index, instance] of instances.entries()) {
      const number = index + 1;
      if (state.afterwards !== undefined) {
        await untilParked(instance);
        await state.afterwards(instance, number);
      }
      const expected = state.expected(number, now, instance.id);
      await eventually(async () =>
        expect(answerOf(await instance.explain(), expected)).toEqual({
          ...expected,
          others: state.others ?? 0,
          tells: false,
          ...("error" in expected ? { error: expect.objectContaining(expected.error as object) } : {}),
        }),
      );
    }
  });

  test("names the worker that holds an instance, and then its place in line", async () => {
    const workflows = new StuckWorkflows();
    const { limited } = workflows;
    const process = subject.start({ limited });
    const create = (number: number) => process.workflows.limited.create({ params: { how: "work", number } });
    const first = await create(1);
    await eventually(async () =>
      expect((await first.explain()).reason).toMatchObject({ reason: "running", leaseUntil: expect.any(Date) }),
    );
    const { reason } = await first.explain();
    expect(reason).toMatchObject({ worker: expect.stringMatching(/./), step: null });
    const line = [await create(1), await create(1), await create(1)];
    for (const [ahead, instance] of line.entries()) {
      const expected = { reason: "inLine", key: expect.stringContaining("tenant-1"), limit: 1, ahead, held: 1 };
      await eventually(async () => expect((await instance.explain()).reason).toEqual(expected));
    }
    workflows.gate.open();
  });

  test("says when the rate of a line allows the next start", async () => {
    const { rated } = new StuckWorkflows();
    const process = subject.start({ rated });
    const now = subject.clock.now();
    const create = () => process.workflows.rated.create({ params: { how: "complete", number: 1 } });
    await (await create()).result();
    const [second, third] = [await create(), await create()];
    const until = new Date(now + 3_600_000);
    for (const [ahead, instance] of [second, third].entries()) {
      const expected = { reason: "rateLimited", key: expect.stringContaining("tenant-1"), limit: 1, ahead, until };
      await eventually(async () => expect((await instance.explain()).reason).toEqual(expected));
    }
  });

  test("says that no process runs a dispatcher, or that none of them runs this workflow", async () => {
    const { stuck, child } = new StuckWorkflows();
    const idle = subject.process({ stuck });
    const instance = await idle.workflows.stuck.create({ params: { how: "complete", number: 1 } });
    expect(await instance.explain()).toEqual({
      reason: { reason: "noDispatcher" },
      sentence: "The instance is due, but no worker is alive: no process runs a dispatcher.",
      others: [],
    });
    subject.start({ child });
    await eventually(async () =>
      expect((await instance.explain()).reason).toEqual({ reason: "noWorker", name: "stuck", workers: 1 }),
    );
    idle.start();
    await instance.result();
    expect((await instance.explain()).reason).toMatchObject({ reason: "finished", status: "complete" });
  });

  test("says that the lease of a lost worker ran out", async () => {
    const workflows = new StuckWorkflows();
    const { stuck } = workflows;
    const clock = subject.anotherClock();
    const lost = subject.start({ stuck }, { clock });
    const instance = await lost.workflows.stuck.create({ params: { how: "work", number: 1 } });
    const held = await eventually(async () => {
      const { reason } = await instance.explain();
      if (reason.reason !== "running") throw new Error(`It is ${reason.reason}.`);
      return reason;
    });
    subject.clock.advance(LEASE_MS + 1);
    const operator = subject.process({ stuck });
    const seen = await operator.workflows.stuck.get(instance.id);
    const { reason } = await seen.explain();
    expect(reason).toMatchObject({ reason: "due", since: new Date(held.leaseUntil), lostBy: held.worker });
    workflows.gate.open();
  });

  test("says that an instance will be paused when its running step has ended", async () => {
    const workflows = new StuckWorkflows();
    const { stuck } = workflows;
    const process = subject.start({ stuck });
    const instance = await process.workflows.stuck.create({ params: { how: "work", number: 1 } });
    await eventually(async () => expect((await instance.explain()).reason.reason).toBe("running"));
    await instance.pause({ by: "ada" });
    await instance.pause({ by: "bob" }); // it was paused by then
    expect((await instance.explain()).reason).toEqual({ reason: "paused", pausing: true, by: "ada" });
    workflows.gate.open();
    await eventually(async () =>
      expect((await instance.explain()).reason).not.toEqual({ reason: "paused", pausing: true, by: "ada" }),
    );
  });

  test("says that a rollback is retried, and not that the step sleeps in which it began", async () => {
    const order = defineWorkflow({ name: "order" }, async (_event, step) => {
      const rollback = () => {
        throw new Error("no");
      };
      const rollbackConfig = { retries: { limit: 3, delay: "1 hour", backoff: "constant" } } as const;
      await step.do("charge", () => {}, { rollback, rollbackConfig });
      await Promise.all([step.sleep("rest", "1 day"), step.waitForEvent("word", { type: "word", timeout: "1 day" })]);
    });
    const process = subject.start({ order });
    const instance = await process.workflows.order.create();
    await untilParked(instance);
    await instance.terminate({ rollback: true });
    await eventually(async () =>
      expect(await instance.explain()).toMatchObject({
        reason: { reason: "retrying", step: { name: "charge" }, attempt: 2 },
        others: [],
      }),
    );
  });

  test("says that the code doesn't match the history", async () => {
    const program = (first: string) => ({
      order: defineWorkflow({ name: "order", onDivergence: "stop" }, async (_event, step) => {
        await step.do(first, () => {});
        await step.sleep("rest", "1 minute");
      }),
    });
    const old = subject.start(program("charge"));
    await untilParked(await old.workflows.order.create({ id: "one" }));
    const changed = await replaceProcess(subject, old, program("bill"));
    const instance = await changed.workflows.order.get("one");
    subject.clock.advance(60_000);
    await withTime(subject.clock, async () =>
      expect((await instance.explain()).reason).toMatchObject({
        reason: "diverged",
        error: { message: expect.stringContaining("bill") },
      }),
    );
  });

  test("says that a stored value can't be read", async () => {
    const { stuck } = new StuckWorkflows();
    const process = subject.start({ stuck });
    const params = { how: "sleep", number: 1, at: KNOWN } as const;
    const instance = await process.workflows.stuck.create({ params });
    await untilParked(instance);
    await makeNewer(process.store, engine, "params");
    expect((await instance.explain()).reason).toMatchObject({ reason: "unreadable", code: "value.corrupt" });
  });

  test("refuses an instance that isn't there", async () => {
    const { stuck } = new StuckWorkflows();
    const process = subject.process({ stuck });
    const instance = await process.workflows.stuck.create({ params: { how: "complete", number: 1 } });
    await instance.delete();
    await expect(instance.explain()).rejects.toMatchObject({ code: "instance.not_found" });
  });
});
