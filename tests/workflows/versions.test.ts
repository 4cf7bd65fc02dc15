import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import {
  defineWorkflow,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowInstance,
  type WorkflowStep,
} from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { afterLong, replaceProcess, untilParked } from "./support/lose-process.ts";
import { eventually, useWorkflows, withTime } from "./support/use-workflows.ts";

/** A workflow that sleeps, and then tells which code has run. */
function sleeper(version?: number) {
  const options = { name: "order", ...(version === undefined ? {} : { version }) };
  return defineWorkflow(options, async (_event, step) => {
    await step.sleep("rest", "1 hour");
    return step.do("tell", async () => `version ${version ?? "none"}`);
  });
}

/** A workflow that tells at once. */
function teller(version?: number) {
  const options = { name: "order", ...(version === undefined ? {} : { version }) };
  return defineWorkflow(options, async () => `version ${version ?? "none"}`);
}

describe.each(ENGINES)("versions of a workflow on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("an instance stays on the version that it was created with, and new instances get the newest", async () => {
    const first = subject.start({ order: sleeper() });
    await untilParked(await first.workflows.order.create({ id: "old" }));
    const second = await replaceProcess(subject, first, { order: [sleeper(2), sleeper()] });
    await untilParked(await second.workflows.order.create({ id: "new" }));
    const third = await replaceProcess(subject, second, { order: [sleeper(3), sleeper(2), sleeper()] });
    await untilParked(await third.workflows.order.create({ id: "newest" }));

    const results: unknown[] = [];
    for (const id of ["old", "new", "newest"]) {
      const instance = await third.workflows.order.get(id);
      await afterLong(subject, instance, "complete");
      const { output, version } = await instance.status();
      results.push([output, version]);
    }
    expect(results).toEqual([
      ["version none", undefined],
      ["version 2", 2],
      ["version 3", 3],
    ]);
    const { instances } = await third.workflows.order.list();
    const listed = Object.fromEntries(instances.map(({ id, version }) => [id, version]));
    expect(listed).toEqual({ old: undefined, new: 2, newest: 3 });
  });

  test("a process leaves instances alone whose version it lacks, and one that has it runs them", async () => {
    const newer = subject.process({ order: teller(2) });
    await newer.workflows.order.create({ id: "two" });
    const older = subject.start({ order: teller(1) });
    await older.workflows.order.create({ id: "one" });
    await expect((await older.workflows.order.get("one")).result()).resolves.toBe("version 1");
    const claim = vi.spyOn(older.store.instances.statements, "claim");
    const nextWake = vi.spyOn(older.store.instances.statements, "nextWake");
    await subject.clock.advanceAndSettle(600_000);

    expect(claim.mock.calls.length).toBeLessThan(3);
    expect(await (await older.workflows.order.get("two")).status()).toMatchObject({ status: "queued", version: 2 });
    expect(await nextWake.mock.results.at(-1)?.value).toBeNull(); // nothing is due that it could claim
    newer.start();
    await expect((await newer.workflows.order.get("two")).result()).resolves.toBe("version 2");
  });

  test("an instance whose owner was lost is taken over only by a process that has its version", async () => {
    const stopped = subject.anotherClock();
    const lost = subject.start({ order: sleeperInStep(1) }, { clock: stopped });
    await lost.workflows.order.create({ id: "one" });
    await eventually(() => expect(running).toEqual(["version 1"]));
    const newer = subject.start({ order: sleeperInStep(2) });
    const claim = vi.spyOn(newer.store.instances.statements, "claim");
    await subject.clock.advanceAndSettle(120_000);
    for (const { value } of claim.mock.results) expect(await value).toEqual([]);

    running.length = 0;
    const both = subject.start({ order: [sleeperInStep(2), teller(1)] });
    await expect((await both.workflows.order.get("one")).result()).resolves.toBe("version 1");
    release();
  });

  let running: string[] = [];
  let release = () => {};
  function sleeperInStep(version: number) {
    running = [];
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    return defineWorkflow({ name: "order", version }, async (_event, step) => {
      await step.do("hold", async () => {
        running.push(`version ${version}`);
        await released;
      });
    });
  }

  test("restart keeps the version, and moves to the newest if asked", async () => {
    const first = subject.start({ order: teller(1) });
    await (await first.workflows.order.create({ id: "one" })).result();
    const second = await replaceProcess(subject, first, { order: [teller(2), teller(1)] });
    const instance = await second.workflows.order.get("one");
    await instance.restart();
    await expect(instance.result()).resolves.toBe("version 1");
    await instance.restart({ version: "newest" });
    await expect(instance.result()).resolves.toBe("version 2");

    expect(await instance.status()).toMatchObject({ run: 3, version: 2 });
    const { version, earlierRuns } = await instance.history();
    expect(version).toBe(2);
    expect(earlierRuns.map((run) => run.version)).toEqual([1, 1]);
    await expect(instance.restart({ version: 1 as never })).rejects.toMatchObject({ code: "options.invalid" });
    expect(await instance.status()).toMatchObject({ run: 3 });
  });

  test("a restart on the newest version leaves a version behind where the newest code has none", async () => {
    const first = subject.start({ order: teller(2) });
    await (await first.workflows.order.create({ id: "one" })).result();
    const second = await replaceProcess(subject, first, { order: teller() });
    const instance = await second.workflows.order.get("one");
    await instance.restart({ version: "newest" });
    await expect(instance.result()).resolves.toBe("version none");
    expect(await instance.status()).not.toHaveProperty("version");
  });

  test("a restart from a step can move to the newest version, with the results of earlier steps", async () => {
    const ran: string[] = [];
    const charging = (version: number) =>
      defineWorkflow({ name: "order", version }, async (_event, step) => {
        const charge = await step.do("charge", async () => {
          ran.push(`charge ${version}`);
          return `charged by ${version}`;
        });
        return step.do("ship", async () => `${charge}, shipped by ${version}`);
      });
    const first = subject.start({ order: charging(1) });
    await (await first.workflows.order.create({ id: "one" })).result();
    const second = await replaceProcess(subject, first, { order: [charging(2), charging(1)] });
    const instance = await second.workflows.order.get("one");
    await instance.restart({ from: { name: "ship" }, version: "newest" });

    await expect(instance.result()).resolves.toBe("charged by 1, shipped by 2");
    expect(ran).toEqual(["charge 1"]);
  });

  test("restartOrCreate runs the newest version in either case", async () => {
    const first = subject.start({ order: teller(1) });
    await (await first.workflows.order.create({ id: "old" })).result();
    const second = await replaceProcess(subject, first, { order: [teller(2), teller(1)] });
    for (const id of ["old", "new"]) {
      const { instance } = await second.workflows.order.restartOrCreate({ id });
      await expect(instance.result()).resolves.toBe("version 2");
    }
  });

  test("batches and children get the newest version", async () => {
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      const child = await step.create(teller1, { id: "child" });
      return child.result();
    });
    const teller1 = teller(1);
    const process = subject.start({ parent, order: [teller(2), teller1] });
    const batch = await process.workflows.order.createBatch([{ id: "a" }, { id: "b" }]);
    const results = await Promise.all(batch.map((instance) => instance.result()));
    expect(results).toEqual(["version 2", "version 2"]);
    await expect((await process.workflows.parent.create()).result()).resolves.toBe("version 2");
  });

  describe.each([
    ["slots", { concurrency: { limit: 1 } }],
    ["starts", { rateLimit: { limit: 100, period: "1 minute" } }],
  ] as const)("in lines for %s", (_title, limits) => {
    const limited = (version: number) =>
      defineWorkflow({ name: "order", version, ...limits }, async (_event, step) => {
        await step.sleep("rest", "1 hour");
        return `version ${version}`;
      });

    test("an instance waits for a process that has its version, and doesn't hold up others", async () => {
      const newer = subject.process({ order: limited(2) });
      await newer.workflows.order.create({ id: "two" });
      const older = subject.start({ order: limited(1) });
      const one = await older.workflows.order.create({ id: "one" });
      await untilParked(one);
      await afterLong(subject, one, "complete");
      const admit = vi.spyOn(older.store.instances.statements, "admit");
      for (let second = 0; second < 30; second++) await subject.clock.advanceAndSettle(1000);
      expect(await (await older.workflows.order.get("two")).status()).toMatchObject({ status: "queued" });
      expect(admit.mock.calls.length).toBeLessThanOrEqual(35); // no more than once a second
      newer.start();
      const two = await newer.workflows.order.get("two");
      await withTime(subject.clock, () => untilBegun(two));

      await newer.stop(); // parked instances wait in line, too
      const third = subject.start({ order: limited(2) });
      const again = await third.workflows.order.get("two");
      await afterLong(subject, again, "complete");
      expect(await again.status()).toMatchObject({ output: "version 2", version: 2 });
    });
  });

  async function untilBegun(instance: { history(): Promise<{ readonly entries: readonly unknown[] }> }) {
    const { entries } = await instance.history();
    if (entries.length === 0) throw new Error("It hasn't begun.");
  }

  test("a class has a version where it is registered", async () => {
    class First extends WorkflowEntrypoint {
      override async run(_event: WorkflowEvent<unknown>, step: WorkflowStep) {
        await step.sleep("rest", "1 hour");
        return "first";
      }
    }
    class Second extends WorkflowEntrypoint {
      override async run(_event: WorkflowEvent<unknown>, step: WorkflowStep) {
        return step.do("tell", async () => "second");
      }
    }
    const first = subject.start({ order: First });
    await untilParked(await first.workflows.order.create({ id: "old" }));
    const versions = [{ name: "order", workflow: Second, version: 2 }, First] as const;
    const second = await replaceProcess(subject, first, { order: versions });
    await expect((await second.workflows.order.create({ id: "new" })).result()).resolves.toBe("second");
    const old = await second.workflows.order.get("old");
    await afterLong(subject, old, "complete");
    expect(await old.status()).toMatchObject({ output: "first" });
  });

  test("versions with unfinished instances are listed, and a process that lacks one says so when it starts", async () => {
    const first = subject.start({ order: sleeper() });
    await untilParked(await first.workflows.order.create());
    await first.workflows.order.create({ id: "ended" }).then((instance) => instance.terminate());
    const second = await replaceProcess(subject, first, { order: [sleeper(2), sleeper()] });
    for (const id of ["a", "b"]) await untilParked(await second.workflows.order.create({ id }));
    await (await second.workflows.order.get("b")).pause();
    expect(await second.workflows.order.versions()).toEqual([
      { version: 2, unfinished: 2, registered: true },
      { version: null, unfinished: 1, registered: true },
    ]);
    expect(second.logs.lines).toEqual([]);

    const third = await replaceProcess(subject, second, { order: sleeper(3) });
    expect(await third.workflows.order.versions()).toEqual([
      { version: 3, unfinished: 0, registered: true },
      { version: 2, unfinished: 2, registered: false },
      { version: null, unfinished: 1, registered: false },
    ]);
    await eventually(() => expect(third.logs.lines).not.toEqual([]));
    expect(third.logs.lines).toMatchObject([{ level: "warn", details: { namespace: subject.namespace } }]);
    expect(third.logs.lines[0]?.details?.versions).toEqual(
      expect.arrayContaining([
        { workflow: "order", version: 2, unfinished: 2 },
        { workflow: "order", version: null, unfinished: 1 },
      ]),
    );
  });

  test("an event can be sent to an instance of any version", async () => {
    const waiting = (version: number, events: { readonly [type: string]: z.ZodType }) =>
      defineWorkflow({ name: "order", version, events }, async (_event, step) => {
        const [type = ""] = Object.keys(events);
        return (await step.waitForEvent("wait", { type })).payload;
      });
    const old = waiting(1, { paid: z.object({ by: z.string() }) });
    const first = subject.start({ order: old });
    await untilParked(await first.workflows.order.create({ id: "one" }));
    const second = await replaceProcess(subject, first, { order: [waiting(2, { settled: z.number() }), old] });
    const instance: WorkflowInstance<unknown> = (await second.workflows.order.get("one")) as never;
    await expect(instance.sendEvent({ type: "paid", payload: 1 })).rejects.toMatchObject({ code: "event.invalid" });
    await expect(instance.sendEvent({ type: "other" })).rejects.toThrow(/takes settled, paid/);
    await instance.sendEvent({ type: "paid", payload: { by: "card" } });
    await expect(instance.result()).resolves.toEqual({ by: "card" });
  });

  test("a rollback runs the code of its instance's version", async () => {
    const undone: string[] = [];
    const undoing = (version: number) =>
      defineWorkflow({ name: "order", version }, async (_event, step) => {
        await step.do("charge", async () => "charged", {
          rollback: async () => void undone.push(`version ${version}`),
        });
        await step.sleep("rest", "1 hour");
      });
    const first = subject.start({ order: undoing(1) });
    await untilParked(await first.workflows.order.create({ id: "one" }));
    const second = await replaceProcess(subject, first, { order: [undoing(2), undoing(1)] });
    const instance = await second.workflows.order.get("one");
    await instance.terminate({ rollback: true });
    await afterLong(subject, instance, "terminated");
    expect(undone).toEqual(["version 1"]);
  });
});

describe("a registration of versions", () => {
  const subject = useWorkflows(ENGINES[0] as (typeof ENGINES)[number]);

  test.each([
    ["without any", () => []],
    ["with the older first", () => [teller(1), teller(2)]],
    ["with a version twice", () => [teller(2), teller(2)]],
    ["with two that have none", () => [teller(), teller()]],
    ["with different names", () => [teller(2), defineWorkflow({ name: "other", version: 1 }, async () => 1)]],
    ["with something else", () => [teller(2), {}]],
  ])("%s is refused", (_title, versions) => {
    expect(() => subject.process({ order: versions() as never })).toThrow(
      expect.objectContaining({ code: "workflow.invalid" }),
    );
  });

  test("under two keys is refused, with advice", () => {
    expect(() => subject.process({ order: teller(2), old: teller(1) })).toThrow(/under one key/);
  });

  test.each([0, -1, 1.5, Number.NaN, 2 ** 31, "2", null, true])("the version %s is refused", (version) => {
    expect(() => teller(version as never)).toThrow(expect.objectContaining({ code: "workflow.invalid" }));
    const named = { name: "order", workflow: teller(), version: version as never };
    expect(() => subject.process({ order: named })).toThrow(expect.objectContaining({ code: "workflow.invalid" }));
  });
});
