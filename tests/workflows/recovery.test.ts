import { afterEach, describe, expect, test, vi } from "vitest";
import { CodecError, StoreError } from "../../src/errors.ts";
import { defineWorkflow } from "../../src/index.ts";
import { forever } from "../hooks/support/handlers.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, LEASE_MS, useWorkflows, withTime } from "./support/use-workflows.ts";

describe.each(ENGINES)("recovery of instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** A workflow that is lost in its step `poison` as often as it is told to be. */
  function poisoned(losses: number, retries: { limit?: number } = {}) {
    const attempts: number[] = [];
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "poisoned" }, async (_event, step) => {
      await step.do("before", () => void begun.push("before"));
      await step.do("poison", { retries }, ({ attempt }) => {
        attempts.push(attempt);
        return attempts.length <= losses ? forever() : undefined;
      });
      return "survived";
    });
    return { workflow, attempts, begun };
  }

  /** Runs it in one process after the other, each of which stops for ever in the middle of the step. */
  async function lose({ workflow, attempts }: ReturnType<typeof poisoned>, times: number): Promise<void> {
    for (let loss = 0; loss < times; loss++) {
      const before = attempts.length;
      const lost = subject.start({ workflow }, { clock: subject.anotherClock() });
      if (loss === 0) await lost.workflows.workflow.create({ id: "one" });
      await withTime(lost.clock, () => expect(attempts.length).toBeGreaterThan(before));
      vi.spyOn(lost.store.instances.statements, "claim").mockResolvedValue([]); // it is gone, and takes nothing over
      await subject.clock.advanceAndSettle(lost.clock.now() - subject.clock.now() + 2 * LEASE_MS);
    }
  }

  async function survivor({ workflow }: ReturnType<typeof poisoned>) {
    const process = subject.start({ workflow });
    const instance = await process.workflows.workflow.get("one");
    await withTime(subject.clock, async () =>
      expect(["complete", "errored"]).toContain((await instance.status()).status),
    );
    return instance;
  }

  test("continues after the last step that was committed; the interrupted attempt counts", async () => {
    const program = poisoned(1);
    await lose(program, 1);
    const instance = await survivor(program);

    await expect(instance.result()).resolves.toBe("survived");
    expect(program.begun).toEqual(["before"]);
    expect(program.attempts).toEqual([1, 2]);
  });

  test("counts the interrupted attempt on, though its values couldn't be read for a while", async () => {
    const program = poisoned(1);
    await lose(program, 1);
    const unable = subject.process({ workflow: program.workflow });
    const load = vi.spyOn(unable.store.instances.statements, "load");
    load.mockRejectedValueOnce(new CodecError("codec.failed", "no key"));
    unable.start();
    const instance = await unable.workflows.workflow.get("one");
    await withTime(subject.clock, () => expect(load.mock.calls.length).toBeGreaterThan(1));

    await expect(instance.result()).resolves.toBe("survived");
    expect(program.attempts).toEqual([1, 2]);
  });

  test("doesn't run a step again that may run only once: it fails", async () => {
    const program = poisoned(1, { limit: 0 });
    await lose(program, 1);
    const instance = await survivor(program);

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "step.interrupted" } });
    expect(program.attempts).toEqual([1]);
  });

  test("gives up a step when its attempts are used up by losses", async () => {
    const program = poisoned(10, { limit: 1 });
    await lose(program, 2);
    const instance = await survivor(program);

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "step.interrupted" } });
    expect(program.attempts).toEqual([1, 2]);
  });

  test("gives up an instance that is lost 21 times with nothing done in between, until it is restarted", async () => {
    const program = poisoned(21, { limit: 100 });
    await lose(program, 21);
    const instance = await survivor(program);

    await expect(instance.result()).rejects.toMatchObject({ cause: { code: "workflow.crash_loop" } });
    expect(program.attempts).toHaveLength(21);
    await instance.restart();
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
    expect(program.attempts.at(-1)).toBe(1);
  });

  test("counts from the beginning when something was done", async () => {
    const program = poisoned(14, { limit: 100 });
    const { attempts } = program;
    const calls = new Map<string, number>();
    const workflow = defineWorkflow({ name: "poisoned" }, async (_event, step) => {
      for (const name of ["a", "b"]) {
        await step.do(name, { retries: { limit: 100 } }, ({ attempt }) => {
          calls.set(name, (calls.get(name) ?? 0) + 1);
          if ((calls.get(name) as number) > 12) return undefined;
          attempts.push(attempt); // what hangs is what its process is lost with
          return forever();
        });
      }
      return "survived";
    });
    // The thirteenth process ends the first step, and is lost in the second.
    await lose({ ...program, workflow }, 24);
    const instance = await survivor({ ...program, workflow });

    await expect(instance.result()).resolves.toBe("survived");
    expect(attempts).toHaveLength(24);
  });

  test.each([true, false])(
    "survives a database that is away for long (transient: %s), and fails nothing",
    async (transient) => {
      const begun: string[] = [];
      const workflow = defineWorkflow({ name: "patient" }, async (_event, step) => {
        await step.do("first", () => void begun.push("first"));
        await step.do("second", () => void begun.push("second"));
        return "done";
      });
      const process = subject.process({ workflow });
      const instance = await process.workflows.workflow.create({ id: "one" });
      const { statements } = process.store.instances;
      const away = new StoreError("store.unavailable", "away", { transient });
      const failing = (["commit", "claim", "load", "renew", "nextWake"] as const).map((name) =>
        vi.spyOn(statements, name),
      );
      process.start();
      await eventually(() => expect(begun).toContain("first"));
      for (const spy of failing) spy.mockRejectedValue(away);
      for (let minute = 0; minute < 20; minute++) await subject.clock.advanceAndSettle(60_000);
      for (const spy of failing) spy.mockRestore();

      await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));
      await expect(instance.result()).resolves.toBe("done");
    },
  );

  test("doubles nothing when the reply to a commit is lost", async () => {
    const begun: string[] = [];
    const workflow = defineWorkflow({ name: "unanswered" }, async (_event, step) => {
      for (const name of ["first", "second"]) await step.do(name, () => void begun.push(name));
      await step.sleep("long", "1 hour");
      await step.do("third", () => void begun.push("third"));
      return "done";
    });
    const process = subject.start({ workflow });
    const { statements } = process.store.instances;
    const commit = statements.commit.bind(statements);
    const answered = new Set<string>();
    vi.spyOn(statements, "commit").mockImplementation(async (commits, sending) => {
      const results = await commit(commits, sending);
      const key = JSON.stringify(commits.map(({ ref, position, outcome }) => [ref, position, outcome.kind]));
      if (answered.has(key)) return results;
      answered.add(key);
      throw new StoreError("store.unavailable", "no answer", { transient: true });
    });
    const instance = await process.workflows.workflow.create({ id: "one" });
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "waiting" }));
    await withTime(subject.clock, async () => expect((await instance.history()).entries).toHaveLength(3));
    await subject.clock.advanceAndSettle(3_600_000);
    await withTime(subject.clock, async () => expect(await instance.status()).toMatchObject({ status: "complete" }));

    expect(begun).toEqual(["first", "second", "third"]);
    expect((await instance.history()).entries.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "completed first",
      "completed second",
      "waiting long",
      "completed long",
      "completed third",
    ]);
  });
});
