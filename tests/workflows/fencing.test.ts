import { describe, expect, test, vi } from "vitest";
import { defineWorkflow, type WorkflowStepContext } from "../../src/index.ts";
import { Gate } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, LEASE_MS, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("owners that have lost their instance, on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** A workflow of two steps; the second waits at the gate in its first attempt. Its process's clock stands still. */
  async function begin() {
    const gate = new Gate();
    const contexts: WorkflowStepContext[] = [];
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "fenced" }, async (_event, step) => {
      await step.do("first", () => void begun.push("first"));
      const who = await step.do("second", async (ctx) => {
        begun.push("second");
        contexts.push(ctx);
        if (contexts.length > 1) return "second owner";
        await gate.opened;
        return "first owner";
      });
      await step.do("third", () => void begun.push(`third of ${who}`));
      return who;
    });
    const owner = subject.start({ workflow }, { clock: subject.anotherClock() });
    const instance = await owner.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(contexts).toHaveLength(1));
    const other = subject.process({ workflow });
    const handle = await other.workflows.workflow.get("one");
    return { gate, contexts, begun, owner, instance, other, handle };
  }

  test("because they stood still can't write any more, and begin nothing", async () => {
    const { gate, begun, contexts, other, handle, owner } = await begin();
    await subject.clock.advanceAndSettle(LEASE_MS);
    other.start();
    await withTime(subject.clock, async () => expect(await handle.status()).toMatchObject({ status: "complete" }));
    gate.open();
    await owner.clock.advanceAndSettle(1);

    await expect(handle.result()).resolves.toBe("second owner");
    expect(begun).toEqual(["first", "second", "second", "third of second owner"]);
    expect(contexts[1]).toMatchObject({ attempt: 2, idempotencyKey: contexts[0]?.idempotencyKey });
    expect((await handle.history()).entries.map(({ name, output }) => [name, output])).toEqual([
      ["first", undefined],
      ["second", "second owner"],
      ["third", undefined],
    ]);
  });

  test("write nothing while the next owner is in the middle of the same step", async () => {
    const gates = [new Gate(), new Gate()];
    const attempts: number[] = [];
    const workflow = defineWorkflow({ name: "same" }, async (_event, step) =>
      step.do("work", async ({ attempt }) => {
        attempts.push(attempt);
        await gates[attempt - 1]?.opened;
        return attempt;
      }),
    );
    const owner = subject.start({ workflow }, { clock: subject.anotherClock() });
    await owner.workflows.workflow.create({ id: "one" });
    await eventually(() => expect(attempts).toEqual([1]));
    await subject.clock.advanceAndSettle(LEASE_MS);
    const other = subject.start({ workflow });
    const instance = await other.workflows.workflow.get("one");
    await withTime(subject.clock, () => expect(attempts).toEqual([1, 2]));
    const { statements } = owner.store.instances;
    const commit = vi.spyOn(statements, "commit");
    gates[0]?.open();
    await eventually(() => expect(commit.mock.settledResults[0]?.value).toEqual([{ result: "superseded" }]));
    expect(await instance.status()).toMatchObject({ status: "running" });
    expect((await instance.history()).entries).toEqual([]);
    gates[1]?.open();

    await expect(instance.result()).resolves.toBe(2);
  });

  test("notice it when they continue and find that their time is over", async () => {
    const { contexts, owner } = await begin();
    await owner.clock.advanceAndSettle(LEASE_MS / 2); // renews
    owner.clock.advance(2 * LEASE_MS);

    await eventually(() => expect(contexts[0]?.signal.reason).toMatchObject({ code: "attempt.lease_lost" }));
  });

  test.each(["terminate", "delete", "restart"] as const)(
    "by a %s in another process write nothing",
    async (operation) => {
      const { gate, begun, contexts, owner, handle } = await begin();
      await handle[operation]();
      gate.open();
      await owner.clock.advanceAndSettle(1);
      if (operation === "restart") {
        await withTime(owner.clock, async () =>
          expect(await handle.status()).toMatchObject({ status: "complete", run: 2 }),
        );
        expect(begun).toEqual(["first", "second", "first", "second", "third of second owner"]);
        await expect(handle.result()).resolves.toBe("second owner");
        return;
      }
      await withTime(owner.clock, async () =>
        expect(await owner.store.instances.statements.leaseTokens([subject.namespace])).toEqual([]),
      );

      expect(begun).toEqual(["first", "second"]);
      expect(contexts).toHaveLength(1);
      if (operation === "delete") await expect(handle.status()).rejects.toMatchObject({ code: "instance.not_found" });
      else {
        expect(await handle.status()).toMatchObject({ status: "terminated" });
        expect((await handle.history()).entries).toHaveLength(1);
      }
    },
  );

  test.each(["terminate", "delete"] as const)(
    "by a %s in another process learn of it by their next renewal",
    async (operation) => {
      const { contexts, owner, handle } = await begin();
      await handle[operation]();
      expect(contexts[0]?.signal.aborted).toBe(false);
      await owner.clock.advanceAndSettle(LEASE_MS / 2);

      await eventually(() => expect(contexts[0]?.signal.aborted).toBe(true));
    },
  );

  test("by a terminate of their own process learn it at once, and the step's result is dropped", async () => {
    const { gate, begun, contexts, instance, owner } = await begin();
    await instance.terminate();
    expect(contexts[0]?.signal.reason).toMatchObject({ name: "AttemptAbortedError", code: "attempt.superseded" });
    gate.open();
    await owner.clock.advanceAndSettle(1);

    expect(begun).toEqual(["first", "second"]);
    expect((await instance.history()).entries).toHaveLength(1);
    expect(await instance.status()).toMatchObject({ status: "terminated" });
  });

  test("keep it for as long as they renew its lease, however long the step takes", async () => {
    const gate = new Gate();
    const attempts: number[] = [];
    const long = defineWorkflow({ name: "long" }, async (_event, step) =>
      step.do("work", { timeout: "1 day" }, async ({ attempt }) => {
        attempts.push(attempt);
        await gate.opened;
      }),
    );
    const owner = subject.start({ long });
    const instance = await owner.workflows.long.create({ id: "one" });
    await eventually(() => expect(attempts).toEqual([1]));
    const other = subject.start({ long });
    for (let round = 0; round < 18; round++) {
      await subject.clock.advanceAndSettle(LEASE_MS / 6);
      await eventually(async () =>
        expect(await availableAt()).toBeGreaterThanOrEqual(subject.clock.now() + LEASE_MS / 2),
      );
    }
    gate.open();

    await expect(instance.result()).resolves.toBeUndefined();
    expect(attempts).toEqual([1]);
    async function availableAt(): Promise<number> {
      const name = { namespace: subject.namespace, name: "long", id: "one" };
      return (await other.store.instances.statements.find([name]))[0]?.availableAt ?? 0;
    }
  });
});
