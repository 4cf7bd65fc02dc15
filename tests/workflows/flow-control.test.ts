import { describe, expect, test } from "vitest";
import { defineWorkflow, WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes, comesToRest } from "./support/sample.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

interface Job {
  readonly tenant: string;
}

/** How many run at a time, by key, and what has begun. */
class Track {
  readonly began: string[] = [];
  readonly gates = new Map<string, Gate>();
  most = 0;
  #running = 0;

  gate(id: string): Gate {
    const gate = this.gates.get(id) ?? new Gate();
    this.gates.set(id, gate);
    return gate;
  }

  async run(id: string): Promise<void> {
    this.began.push(id);
    this.most = Math.max(this.most, ++this.#running);
    await this.gate(id).opened;
    this.#running--;
  }
}

describe.each(ENGINES)("flow control on $name", (engine) => {
  const subject = useWorkflows(engine);

  function limited(track: Track, limit: number) {
    return defineWorkflow({ name: "limited", concurrency: { limit } }, async ({ instanceId }, step) => {
      await step.do("work", () => track.run(instanceId));
    });
  }

  test("a limit holds for all processes together, and a slot is taken as soon as it is free", async () => {
    const track = new Track();
    const workflow = limited(track, 2);
    const first = subject.start({ workflow });
    subject.start({ workflow });
    for (const id of ["a", "b", "c", "d"]) await first.workflows.workflow.create({ id });
    // Which of two that run at the same time begins first is up to their processes.
    const began = () => track.began.toSorted();
    await eventually(() => expect(began()).toEqual(["a", "b"]));
    expect(await (await first.workflows.workflow.get("c")).status()).toMatchObject({ status: "queued" });

    track.gate("b").open();
    await eventually(() => expect(began()).toEqual(["a", "b", "c"])); // the test's clock stands still: no worker has polled
    track.gate("a").open();
    await eventually(() => expect(began()).toEqual(["a", "b", "c", "d"]));
    for (const id of ["c", "d"]) track.gate(id).open();
    for (const id of ["a", "b", "c", "d"]) await becomes(await first.workflows.workflow.get(id), "complete");
    expect(track.most).toBe(2);
  });

  test("keys have slots of their own", async () => {
    const track = new Track();
    const workflow = defineWorkflow(
      { name: "keyed", concurrency: { limit: 1, key: (job: Job) => job.tenant } },
      async ({ instanceId }: WorkflowEvent<Job>, step) => {
        await step.do("work", () => track.run(instanceId));
      },
    );
    const process = subject.start({ workflow });
    for (const [id, tenant] of [
      ["x1", "x"],
      ["x2", "x"],
      ["y1", "y"],
      ["y2", "y"],
    ] as const) {
      await process.workflows.workflow.create({ id, params: { tenant } });
    }
    await eventually(() => expect(track.began.toSorted()).toEqual(["x1", "y1"]));
    track.gate("y1").open();
    await eventually(() => expect(track.began.toSorted()).toEqual(["x1", "y1", "y2"]));
    for (const id of ["x1", "x2", "y2"]) track.gate(id).open();
    await eventually(() => expect(track.began).toHaveLength(4));
  });

  test("an instance that is restarted with new params shares the slots of its new key only", async () => {
    const track = new Track();
    const workflow = defineWorkflow(
      { name: "keyed", concurrency: { limit: 1, key: (job: Job) => job.tenant } },
      async ({ instanceId, payload }: WorkflowEvent<Job>, step) => {
        await step.do("work", () => track.run(`${payload.tenant}:${instanceId}`));
      },
    );
    const process = subject.start({ workflow });
    const { create, restartOrCreate } = process.workflows.workflow;
    await create({ id: "moving", params: { tenant: "x" } });
    await create({ id: "second", params: { tenant: "x" } });
    await create({ id: "third", params: { tenant: "y" } });
    await eventually(() => expect(track.began.toSorted()).toEqual(["x:moving", "y:third"]));

    await restartOrCreate({ id: "moving", params: { tenant: "y" }, when: "always" });
    await eventually(() => expect(track.began.toSorted()).toEqual(["x:moving", "x:second", "y:third"]));
    track.gate("y:third").open();
    await eventually(() => expect(track.began.at(-1)).toBe("y:moving"));
    for (const id of ["x:moving", "x:second", "y:moving"]) track.gate(id).open();
    for (const id of ["moving", "second"]) await becomes(await process.workflows.workflow.get(id), "complete");
  });

  test("a sleeping instance leaves its slot to others, and continues with a slot before new instances", async () => {
    const track = new Track();
    const workflow = defineWorkflow({ name: "sleepy", concurrency: { limit: 1 } }, async ({ instanceId }, step) => {
      if (instanceId === "sleeper") await step.sleep("long", "1 hour");
      await step.do("work", () => track.run(instanceId));
    });
    const process = subject.start({ workflow });
    await process.workflows.workflow.create({ id: "sleeper" });
    await becomes(await process.workflows.workflow.get("sleeper"), "waiting");
    for (const id of ["a", "b"]) await process.workflows.workflow.create({ id });
    await eventually(() => expect(track.began).toEqual(["a"]));
    await subject.clock.advanceAndSettle(20_000);
    await subject.clock.advanceAndSettle(20_000);
    track.gate("a").open();
    await eventually(() => expect(track.began).toEqual(["a", "b"]));
    track.gate("b").open();
    await comesToRest(process);
    await subject.clock.advanceAndSettle(3_600_000);
    await eventually(() => expect(track.began).toEqual(["a", "b", "sleeper"]));
    track.gate("sleeper").open();
    await becomes(await process.workflows.workflow.get("sleeper"), "complete");
    expect(track.most).toBe(1);
  });

  test.each(["terminate", "restart", "delete"] as const)(
    "%s frees the slot of what runs, at once",
    async (operation) => {
      const track = new Track();
      const workflow = limited(track, 1);
      const process = subject.start({ workflow });
      const running = await process.workflows.workflow.create({ id: "a" });
      await process.workflows.workflow.create({ id: "b" });
      await eventually(() => expect(track.began).toEqual(["a"]));
      subject.clock.advance(1);
      await running[operation]();
      await eventually(() => expect(track.began).toEqual(["a", "b"]));
      for (const id of ["a", "b"]) track.gate(id).open();
      await becomes(await process.workflows.workflow.get("b"), "complete");
      if (operation === "restart") await becomes(running, "complete");
    },
  );

  test("pausing frees the slot when running steps have ended, and resuming waits for one", async () => {
    const track = new Track();
    const workflow = defineWorkflow({ name: "steps", concurrency: { limit: 1 } }, async ({ instanceId }, step) => {
      await step.do("first", () => track.run(`${instanceId}1`));
      await step.do("second", () => track.run(`${instanceId}2`));
    });
    const process = subject.start({ workflow });
    const a = await process.workflows.workflow.create({ id: "a" });
    const b = await process.workflows.workflow.create({ id: "b" });
    await eventually(() => expect(track.began).toEqual(["a1"]));
    await a.pause();
    track.gate("a1").open();
    await eventually(() => expect(track.began).toEqual(["a1", "b1"]));
    await a.resume();
    expect(await a.status()).toMatchObject({ status: "waiting" });
    await subject.clock.advanceAndSettle(100);
    expect(track.began).toEqual(["a1", "b1"]);
    for (const id of ["b1", "b2", "a2"]) track.gate(id).open();
    await becomes(b, "complete");
    await becomes(a, "complete");
    expect(track.began).toEqual(["a1", "b1", "b2", "a2"]);
  });

  test("a step that is called after its instance was parked waits for a slot", async () => {
    const track = new Track();
    const late = new Gate();
    const workflow = defineWorkflow({ name: "late", concurrency: { limit: 1 } }, async ({ instanceId }, step) => {
      if (instanceId === "a") {
        const sleep = step.sleep("long", "1 hour");
        await Promise.all([sleep, late.opened.then(() => step.do("beside", () => track.run("beside")))]);
      } else {
        await step.do("work", () => track.run(instanceId));
      }
    });
    const process = subject.start({ workflow });
    await process.workflows.workflow.create({ id: "a" });
    await becomes(await process.workflows.workflow.get("a"), "waiting");
    await process.workflows.workflow.create({ id: "b" });
    await eventually(() => expect(track.began).toEqual(["b"]));
    late.open();
    await subject.clock.advanceAndSettle(100);
    expect(track.began).toEqual(["b"]);
    track.gate("b").open();
    await withTime(subject.clock, () => expect(track.began).toEqual(["b", "beside"]));
    expect(track.most).toBe(1);
    track.gate("beside").open();
  });

  test("a rate lets no more start in any period, and everything starts in the end", async () => {
    const starts: number[] = [];
    const workflow = defineWorkflow(
      { name: "rated", rateLimit: { limit: 2, period: "10 seconds" } },
      async (_event, step) => {
        await step.do("work", () => void starts.push(subject.clock.now()));
      },
    );
    const processes = [subject.start({ workflow }), subject.start({ workflow })];
    await Promise.all(
      Array.from({ length: 7 }, (_, index) => processes[index % 2]?.workflows.workflow.create({ id: `i${index}` })),
    );
    await eventually(() => expect(starts).toHaveLength(2));
    await withTime(subject.clock, () => expect(starts).toHaveLength(7));
    for (const [index, start] of starts.entries()) {
      if (index >= 2) expect(start - (starts[index - 2] as number)).toBeGreaterThanOrEqual(9_900);
    }
  });

  test("a class has its limits where it is registered, and these take the place of a definition's own", async () => {
    const track = new Track();
    class Checkout extends WorkflowEntrypoint<unknown, Job> {
      async run(event: Readonly<WorkflowEvent<Job>>, step: WorkflowStep) {
        await step.do("work", () => track.run(event.instanceId));
      }
    }
    const process = subject.start({
      checkout: { name: "checkout", workflow: Checkout, concurrency: { limit: 1, key: (job: Job) => job.tenant } },
      other: { name: "other", workflow: limited(track, 1), concurrency: { limit: 2 } },
    });
    for (const id of ["a", "b"]) await process.workflows.checkout.create({ id, params: { tenant: "x" } });
    await eventually(() => expect(track.began).toEqual(["a"]));
    for (const id of ["c", "d", "e"]) await process.workflows.other.create({ id });
    await eventually(() => expect(track.began.toSorted()).toEqual(["a", "c", "d"]));
    for (const id of ["a", "b", "c", "d", "e"]) track.gate(id).open();
    await eventually(() => expect(track.began).toHaveLength(5));
  });

  test("a child stands in line like any other instance", async () => {
    const track = new Track();
    const child = limited(track, 1);
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      await Promise.all([step.create(child, { id: "c1" }), step.create(child, { id: "c2" })]);
    });
    const process = subject.start({ parent, child });
    await process.workflows.parent.create({ id: "p" });
    await eventually(() => expect(track.began).toEqual(["c1"]));
    await becomes(await process.workflows.parent.get("p"), "complete");
    track.gate("c1").open();
    await eventually(() => expect(track.began).toEqual(["c1", "c2"]));
    track.gate("c2").open();
  });

  test("a process with few slots runs instances from lines and others in turn", async () => {
    const track = new Track();
    const plain = defineWorkflow({ name: "plain" }, async ({ instanceId }, step) => {
      await step.do("work", () => void track.began.push(instanceId));
    });
    const one = defineWorkflow({ name: "one", concurrency: { limit: 1 } }, async ({ instanceId }, step) => {
      await step.do("work", () => void track.began.push(instanceId));
    });
    const process = subject.process({ plain, one }, { concurrency: 1 });
    await process.workflows.plain.createBatch(Array.from({ length: 20 }, (_, index) => ({ id: `plain${index}` })));
    await process.workflows.one.createBatch(Array.from({ length: 10 }, (_, index) => ({ id: `one${index}` })));
    await process.drain();

    expect(track.began).toHaveLength(30);
    // How many in a row is a matter of pace: a fast worker claims some ahead. But neither waits until the other is done.
    const isLimited = (id: string) => id.startsWith("one");
    expect(track.began.findIndex(isLimited)).toBeLessThan(20);
    expect(track.began.findIndex((id) => !isLimited(id))).toBeLessThan(10);
  });

  test("limits that the code has no more don't hold back what stands in line", async () => {
    const track = new Track();
    const before = subject.process({ workflow: limited(track, 1) });
    await before.workflows.workflow.createBatch([{ id: "a" }, { id: "b" }]);
    const plain = defineWorkflow({ name: "limited" }, async ({ instanceId }, step) => {
      await step.do("work", () => track.run(instanceId));
    });
    subject.start({ workflow: plain });
    await eventually(() => expect(track.began).toEqual(["a", "b"]));
    for (const id of ["a", "b"]) track.gate(id).open();
  });

  test("higher priorities start first", async () => {
    const began: string[] = [];
    const workflow = defineWorkflow({ name: "ranked" }, async ({ instanceId }, step) => {
      await step.do("work", () => void began.push(instanceId));
    });
    const process = subject.process({ workflow }, { concurrency: 1 });
    await process.workflows.workflow.createBatch([
      { id: "low", priority: -5 },
      { id: "usual" },
      { id: "high", priority: 5 },
      { id: "highest", priority: 100 },
    ]);
    await process.drain();
    expect(began).toEqual(["highest", "high", "usual", "low"]);
  });

  describe("refuses", () => {
    const body = async () => {};
    test.each([
      ["no limit", { concurrency: {} }],
      ["none at a time", { concurrency: { limit: 0 } }],
      ["half of one", { concurrency: { limit: 1.5 } }],
      ["a text", { concurrency: "2" }],
      ["another option", { concurrency: { limit: 1, keys: [] } }],
      ["a key that isn't a function", { concurrency: { limit: 1, key: "tenant" } }],
      ["no period", { rateLimit: { limit: 1 } }],
      ["a period of nothing", { rateLimit: { limit: 1, period: 0 } }],
      ["a period that isn't one", { rateLimit: { limit: 1, period: "soon" } }],
      ["more starts than can be counted", { rateLimit: { limit: 100_001, period: 1000 } }],
      ["nothing at all", { rateLimit: null }],
    ])("%s", (_, options) => {
      const codes = /^(workflow|duration)\.invalid$/;
      const code = expect.stringMatching(codes);
      expect(() => defineWorkflow({ name: "bad", ...(options as object) }, body)).toThrow(
        expect.objectContaining({ code }),
      );
      const registered = { name: "bad", workflow: defineWorkflow({ name: "bad" }, body), ...(options as object) };
      expect(() => subject.process({ registered } as never)).toThrow(expect.objectContaining({ code }));
    });

    test.each([
      ["gives nothing", () => undefined],
      ["gives a number", () => 7],
      ["gives an empty text", () => ""],
      ["gives a text that is too long", () => "x".repeat(201)],
      ["gives control characters", () => "a\u0000b"],
      [
        "throws",
        () => {
          throw new TypeError("no tenant");
        },
      ],
    ])("a key function that %s", async (_, key) => {
      const workflow = defineWorkflow({ name: "bad", concurrency: { limit: 1, key: key as never } }, body);
      const process = subject.process({ workflow });
      await expect(process.workflows.workflow.create({ id: "a" })).rejects.toMatchObject({ code: "create.invalid" });
      expect((await process.workflows.workflow.list()).instances).toEqual([]);
    });

    test.each([101, -101, 0.5, Number.NaN, "1", null])("the priority %s", async (priority) => {
      const process = subject.process({ workflow: defineWorkflow({ name: "ranked" }, body) });
      const created = process.workflows.workflow.create({ id: "a", priority: priority as number });
      await expect(created).rejects.toMatchObject({ code: "create.invalid" });
      expect((await process.workflows.workflow.list()).instances).toEqual([]);
    });
  });
});
