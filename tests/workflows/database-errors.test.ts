import { afterEach, describe, expect, test, vi } from "vitest";
import { StoreError, ValueRefusedError } from "../../src/errors.ts";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, LEASE_MS, untilStatus, useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("an instance whose database fails on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  const refused = new StoreError("store.rejected", "permission denied for table journal", { transient: false });

  test.each([0, 1, 5])(
    "runs a step with limit %i once, and completes, when its commits are refused for several leases",
    async (limit) => {
      const calls: number[] = [];
      const workflow = defineWorkflow({ name: "patient" }, async (_event, step) => {
        await step.do("first", () => {});
        await step.do("charge", { retries: { limit } }, ({ attempt }) => void calls.push(attempt));
        return "done";
      });
      const process = subject.process({ workflow });
      const instance = await process.workflows.workflow.create({ id: "one" });
      const { statements } = process.store.instances;
      const commit = statements.commit.bind(statements);
      let refuses = false;
      vi.spyOn(statements, "commit").mockImplementation(async (commits, sending) => {
        if (commits.some(({ entries }) => entries.some(({ kind, name }) => kind === "completed" && name === "charge")))
          refuses = true;
        if (refuses) throw refused;
        return commit(commits, sending);
      });
      process.start();
      await eventually(() => expect(calls).toEqual([1]));
      for (let passed = 0; passed < 5 * LEASE_MS; passed += 2500) await subject.clock.advanceAndSettle(2500);
      expect(refuses).toBe(true);
      vi.restoreAllMocks();
      await untilStatus(subject.clock, instance, "complete");

      expect(calls).toEqual([1]);
      expect(process.logs.messages("warn")).toContainEqual(
        expect.stringContaining("doesn't accept the commit of an instance"),
      );
    },
  );

  test("leaves its place to others while its commits are refused", async () => {
    const ran: string[] = [];
    const stuck = defineWorkflow({ name: "stuck" }, (_event, step) => step.do("one", () => void ran.push("stuck")));
    const free = defineWorkflow({ name: "free" }, (_event, step) => step.do("one", () => void ran.push("free")));
    const process = subject.process({ stuck, free }, { concurrency: 1 });
    const { statements } = process.store.instances;
    const commit = statements.commit.bind(statements);
    const first = await process.workflows.stuck.create({ id: "one" });
    let ref: string | undefined;
    vi.spyOn(statements, "commit").mockImplementation(async (commits, sending) => {
      ref ??= commits[0]?.ref;
      if (commits.some((one) => one.ref === ref)) throw refused;
      return commit(commits, sending);
    });
    process.start();
    await eventually(() => expect(ran).toEqual(["stuck"]));
    const second = await process.workflows.free.create({ id: "two" });
    await untilStatus(subject.clock, second, "complete");
    vi.restoreAllMocks();
    await untilStatus(subject.clock, first, "complete");

    expect(ran).toEqual(["stuck", "free"]);
  });

  test("counts nothing when its journal can't be read for several leases", async () => {
    const calls: number[] = [];
    const workflow = defineWorkflow({ name: "sleeper" }, async (_event, step) => {
      await step.sleep("long", "1 hour");
      await step.do("charge", { retries: { limit: 1 } }, ({ attempt }) => void calls.push(attempt));
    });
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await untilStatus(subject.clock, instance, "waiting");
    const { statements } = process.store.instances;
    const load = vi.spyOn(statements, "load").mockRejectedValue(refused);
    await subject.clock.advanceAndSettle(3_600_000);
    for (let passed = 0; passed < 5 * LEASE_MS; passed += 2500) await subject.clock.advanceAndSettle(2500);
    expect(load.mock.calls.length).toBeGreaterThan(2);
    vi.restoreAllMocks();
    await untilStatus(subject.clock, instance, "complete");

    expect(calls).toEqual([1]);
  });

  /** A database whose encoding hasn't got the euro sign. */
  function refuseEuros(process: ReturnType<typeof subject.process>): void {
    const { statements } = process.store.instances;
    const commit = statements.commit.bind(statements);
    vi.spyOn(statements, "commit").mockImplementation(async (commits, sending) => {
      if (JSON.stringify(commits).includes("€")) throw new ValueRefusedError("no such character in this encoding");
      return commit(commits, sending);
    });
  }

  test("fails a step once, with a clear error, if its result can never be stored", async () => {
    let calls = 0;
    const caught: unknown[] = [];
    const workflow = defineWorkflow({ name: "prices" }, async (_event, step) => {
      const neighbour = step.do("neighbour", () => "10 dollars");
      const price = step.do("price", () => {
        calls++;
        return "10 €";
      });
      await price.catch((error: unknown) => caught.push(error));
      return neighbour;
    });
    const process = subject.process({ workflow });
    refuseEuros(process as never);
    process.start();
    const instance = await process.workflows.workflow.create({ id: "one" });
    await untilStatus(subject.clock, instance, "complete");

    expect(calls).toBe(1);
    expect(caught).toMatchObject([{ code: "value.refused", message: expect.stringContaining("do:price") }]);
    await expect(instance.result()).resolves.toBe("10 dollars");
  });

  test("fails a step for good if its error can't be stored, and the run if its own error can't", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "prices" }, async (_event, step) => {
      const fails = () => {
        calls++;
        throw new Error("10 € are too much");
      };
      await step.do("price", fails).catch(() => {});
      return "10 €";
    });
    const process = subject.process({ workflow });
    refuseEuros(process as never);
    process.start();
    const instance = await process.workflows.workflow.create({ id: "one" });
    await untilStatus(subject.clock, instance, "errored");

    expect(calls).toBe(1);
    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "value.refused" } });
  });

  test("fails a step once if what it emits can't be stored, also while a step is rolled back", async () => {
    const calls: string[] = [];
    const emits = (name: string) => async (context: { emit(value: unknown): Promise<void> }) => {
      calls.push(name);
      await context.emit("10 €");
    };
    const rollbackConfig = { retries: { limit: 3, delay: 0 } };
    const workflow = defineWorkflow({ name: "prices" }, async (_event, step) => {
      await step.do("list", () => {}, { rollback: ({ ctx }) => emits("undo")(ctx), rollbackConfig });
      await step.do("price", emits("price"));
    });
    const process = subject.process({ workflow });
    refuseEuros(process as never);
    process.start();
    const instance = await process.workflows.workflow.create({ id: "one" });
    await untilStatus(subject.clock, instance, "errored");

    expect(calls).toEqual(["price", "undo"]);
    const cause = { code: "value.refused", message: expect.stringContaining("The progress of the step do:price") };
    await expect(instance.result()).rejects.toMatchObject({ cause });
    expect((await instance.status()).rollback).toMatchObject({ outcome: "failed", error: { code: "value.refused" } });
  });

  test("fails a run if the name of a step can't be stored, and runs that step once", async () => {
    let calls = 0;
    const workflow = defineWorkflow({ name: "prices" }, async (_event, step) => {
      await step.do("10 €", () => void calls++).catch(() => {});
      await step.sleep("20 €", "1 hour");
    });
    const process = subject.process({ workflow });
    refuseEuros(process as never);
    process.start();
    const instance = await process.workflows.workflow.create({ id: "one" });
    await untilStatus(subject.clock, instance, "errored");

    expect(calls).toBe(1);
    const cause = { code: "value.refused", message: expect.stringContaining("The name of a step") };
    await expect(instance.result()).rejects.toMatchObject({ cause });
  });
});
