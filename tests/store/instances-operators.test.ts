import { describe, expect, it } from "vitest";
import type { InstanceRecord } from "../../src/store/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { INSTANCE_STATES, type InstanceState } from "../support/instance-states.ts";
import { COMPLETED, ERRORED, LEASE_MS, RUNNING, useInstances } from "../support/use-instances.ts";

const unfinished = INSTANCE_STATES.filter(({ finished }) => !finished);
const finished = INSTANCE_STATES.filter((state) => state.finished);
const paused = INSTANCE_STATES.filter((state) => state.paused);
const notPaused = INSTANCE_STATES.filter((state) => !state.paused);

describe.each(ENGINES)("what operators do with instances on $name", (engine) => {
  const test = useInstances(engine);
  const OPERATIONS = ["pause", "resume", "terminate", "restart", "delete"] as const;

  async function enter(state: InstanceState): Promise<InstanceRecord> {
    await state.enter(test, "a");
    test.clock.advance(100);
    return (await test.find("a")) as InstanceRecord;
  }

  const change = (operation: (typeof OPERATIONS)[number]) => test.statements[operation](test.named("a"));
  const idsDue = async () => (await test.claim()).map(({ id }) => id);

  it.each(INSTANCE_STATES)("tell that an instance is $status when it is $state", async (state) => {
    expect(await enter(state)).toMatchObject({ status: state.status });
  });

  it.each(OPERATIONS)("%s nothing where there is no such instance", async (operation) => {
    await test.create({ id: "b" });
    await test.create({ id: "a", name: "refund" });
    await test.create({ id: "a", namespace: `${test.namespace}-other` });
    const before = await test.list();

    expect(await change(operation)).toEqual({ changed: false, instance: null });
    expect(await test.list()).toEqual(before);
  });

  it.each(OPERATIONS)("%s one instance, and leave its neighbours alone", async (operation) => {
    await test.create({ id: "a" });
    if (operation === "resume") await change("pause");
    const others = [{ id: "b" }, { id: "a", name: "refund" }, { id: "a", namespace: `${test.namespace}-other` }];
    const neighbours = others.map((other) => test.instance(other));
    await test.statements.insert(neighbours);
    const before = await test.statements.find(neighbours);

    expect(await change(operation)).toMatchObject({ changed: true });
    expect(await test.statements.find(neighbours)).toEqual(before);
  });

  describe("pausing", () => {
    it.each(unfinished)("holds what is $state", async (state) => {
      const before = await enter(state);
      const { instance } = await change("pause");

      const after = state.held
        ? { ...before, status: "waitingForPause" }
        : { ...before, status: "paused", availableAt: null };
      expect(instance).toEqual(after);
      expect(await test.find("a")).toEqual(after);
      if (!state.held) {
        test.clock.advance(LEASE_MS * 1000);
        expect(await idsDue()).toEqual([]);
      }
    });

    it.each(finished)("leaves alone what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("pause")).toEqual({ changed: false, instance: before });
      expect(await test.find("a")).toEqual(before);
    });

    it("tells of its change", async () => {
      await test.create({ id: "a" });

      expect(await change("pause")).toMatchObject({ changed: true });
    });

    it("leaves an owner its token", async () => {
      const instance = await test.start({ id: "a" });
      await change("pause");

      expect(await test.commit(instance, RUNNING)).toMatchObject({ result: "written", wakes: 0, paused: true });
    });
  });

  describe("resuming", () => {
    it.each(paused)("lets go on what is $state", async (state) => {
      const before = await enter(state);
      const { changed, instance } = await change("resume");

      expect(changed).toBe(true);
      if (state.held) {
        expect(instance).toEqual({ ...before, status: "running" });
        expect(await idsDue()).toEqual([]);
      } else {
        const status = before.startedAt === null ? "queued" : "waiting";
        expect(instance).toEqual({ ...before, status, availableAt: test.now });
        expect(await idsDue()).toEqual(["a"]);
      }
    });

    it.each(notPaused)("leaves alone what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("resume")).toEqual({ changed: false, instance: before });
      expect(await test.find("a")).toEqual(before);
    });

    it("wakes it, also if its owner is about to park it", async () => {
      const instance = await test.start({ id: "a" });
      await change("pause");
      await change("resume");

      expect(await test.park(instance)).toMatchObject({ result: "written", wakes: 1, paused: false });
      expect(await test.find("a")).toMatchObject({ availableAt: test.now });
    });

    it("counts neither as fresh nor as lost", async () => {
      await test.park(await test.start({ id: "a" }));
      await change("pause");
      await change("resume");

      expect(await test.claim({ takeOver: false })).toMatchObject([{ id: "a", recoveries: 0, begun: true, wakes: 1 }]);
    });

    it("comes before what is fresh, also if it had not begun", async () => {
      await test.create({ id: "a" });
      await change("pause");
      await test.create({ id: "fresh" });
      test.clock.advance(100);
      await change("resume");

      expect(await idsDue()).toEqual(["a", "fresh"]);
    });

    it("still takes over alone what was recovered before", async () => {
      await INSTANCE_STATES.find(({ state }) => state === "paused, given back after a takeover")?.enter(test, "a");
      await change("resume");

      expect(await test.claim({ takeOver: false })).toEqual([]);
      expect(await test.claim()).toMatchObject([{ id: "a", recoveries: 1 }]);
    });
  });

  describe("terminating", () => {
    it.each(unfinished)("ends what is $state", async (state) => {
      const before = await enter(state);
      const rollback = state.status === "rollingBack" ? '{"outcome":"failed"}' : null;
      const after = { ...before, status: "terminated", finishedAt: test.now, availableAt: null, rollback };

      expect(await change("terminate")).toEqual({ changed: true, instance: after });
      expect(await test.find("a")).toEqual(after);
      test.clock.advance(LEASE_MS * 1000);
      expect(await idsDue()).toEqual([]);
      expect(await test.statements.leaseTokens([test.namespace])).toEqual([]);
    });

    it.each(finished)("leaves alone what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("terminate")).toEqual({ changed: false, instance: before });
      expect(await test.find("a")).toEqual(before);
    });

    it("counts as a wake", async () => {
      const { ref } = await test.create({ id: "a" });
      await change("terminate");

      expect(await test.load({ ref, run: 1 })).toMatchObject({ wakes: 1 });
    });

    it("keeps the journal", async () => {
      const instance = await test.start({ id: "a" });
      await test.commit(instance, RUNNING, { entries: [test.entry()] });
      await change("terminate");

      expect(await test.history(instance.ref)).toHaveLength(1);
    });
  });

  describe("restarting", () => {
    it.each(INSTANCE_STATES)("begins the next run of what is $state", async (state) => {
      const before = await enter(state);
      const { ref, output, error, startedAt, finishedAt } = before;
      const after = {
        ...before,
        run: 2,
        status: "queued",
        output: null,
        error: null,
        startedAt: null,
        finishedAt: null,
        availableAt: test.now,
      };

      expect(await change("restart")).toEqual({ changed: true, instance: after });
      expect(await test.find("a")).toEqual(after);
      expect(await test.pastRuns(ref)).toEqual([
        { run: 1, status: state.status, output, error, rollback: null, startedAt, finishedAt },
      ]);
      expect(await test.claim({ takeOver: false })).toMatchObject([{ id: "a", run: 2, recoveries: 0 }]);
    });

    it("keeps how every run ended, in their order", async () => {
      const { ref } = await test.create({ id: "a" });
      for (const outcome of [COMPLETED, ERRORED, COMPLETED]) {
        await test.commit(await test.claimOne(), outcome);
        await change("restart");
      }

      const runs = await test.pastRuns(ref);
      expect(runs.map(({ run, status, output, error }) => [run, status, output ?? error])).toEqual([
        [1, "complete", '{"sum":7}'],
        [2, "errored", '{"message":"no"}'],
        [3, "complete", '{"sum":7}'],
      ]);
    });

    it("begins a journal of its own, and keeps the old one", async () => {
      const first = await test.start({ id: "a" });
      await test.commit(first, RUNNING, { entries: [test.entry({ name: "first" })] });
      await change("restart");
      const second = await test.claimOne();
      expect(second).toMatchObject({ ref: first.ref, params: first.params, wakes: 1 });

      expect(await test.commit(second, RUNNING, { entries: [test.entry({ name: "second" })] })).toMatchObject({
        result: "written",
      });
      expect((await test.history(first.ref)).map(({ run, name }) => [run, name])).toEqual([
        [1, "first"],
        [2, "second"],
      ]);
    });

    it("waits for its turn like what is fresh", async () => {
      const instance = await test.start({ id: "a" });
      await test.park(await test.start({ id: "slept" }), { dueAt: test.now + 100 });
      await test.commit(instance, COMPLETED);
      await change("restart");
      test.clock.advance(100);

      expect(await idsDue()).toEqual(["slept", "a"]);
    });

    it("counts as a wake, so that nobody parks over it", async () => {
      const { ref } = await test.create({ id: "a" });
      await change("restart");

      expect(await test.load({ ref, run: 2 })).toMatchObject({ wakes: 1 });
    });
  });

  describe("deleting", () => {
    it.each(INSTANCE_STATES)("removes what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("delete")).toEqual({ changed: true, instance: before });
      expect(await test.find("a")).toBeNull();
      test.clock.advance(LEASE_MS * 1000);
      expect(await idsDue()).toEqual([]);
    });

    it("removes everything that belongs to it, and nothing else", async () => {
      const refs: Record<string, string> = {};
      for (const id of ["older", "a", "newer"]) {
        const first = await test.start({ id });
        refs[id] = first.ref;
        await test.commit(first, RUNNING, { entries: [test.entry()] });
        await test.statements.restart(test.named(id));
        await test.send(id);
        await test.commit(await test.claimOne(), RUNNING, { entries: [test.entry()] });
      }
      await change("delete");

      const ref = refs.a as string;
      expect(await test.history(ref)).toEqual([]);
      expect(await test.pastRuns(ref)).toEqual([]);
      for (const kept of [refs.older, refs.newer] as string[]) {
        expect(await test.history(kept)).toHaveLength(2);
        expect(await test.pastRuns(kept)).toHaveLength(1);
        expect(await test.load({ ref: kept, run: 2 })).toMatchObject({ events: [{ id: "event-1" }] });
      }
      await test.create({ id: "a", ref });
      expect(await test.load({ ref, run: 1 })).toMatchObject({ wakes: 0, entries: [], events: [] });
      await test.statements.restart(test.named("a"));
      expect(await test.load({ ref, run: 2 })).toMatchObject({ entries: [], events: [] });
    });

    it("makes room for another instance of the same id", async () => {
      const { ref } = await test.create({ id: "a" });
      await change("delete");

      const created = await test.create({ id: "a" });
      expect(created).toMatchObject({ result: "created" });
      expect(created.ref).not.toBe(ref);
    });
  });
});
