import { describe, expect, test } from "vitest";
import type { InstanceRecord } from "../../src/store/instances/instance-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { INSTANCE_STATES, type InstanceState } from "../support/instance-states.ts";
import { COMPLETED, ERRORED, LEASE_MS, RUNNING, useInstances } from "../support/use-instances.ts";

const unfinished = INSTANCE_STATES.filter(({ finished }) => !finished);
const finished = INSTANCE_STATES.filter((state) => state.finished);
const paused = INSTANCE_STATES.filter((state) => state.paused);
const notPaused = INSTANCE_STATES.filter((state) => !state.paused);

describe.each(DRIVERS)("operations on instances on $name", (engine) => {
  const fixture = useInstances(engine);
  const OPERATIONS = ["pause", "resume", "terminate", "restart", "delete"] as const;

  async function enter(state: InstanceState): Promise<InstanceRecord> {
    await state.enter(fixture, "a");
    fixture.clock.advance(100);
    return (await fixture.find("a")) as InstanceRecord;
  }

  const change = (operation: (typeof OPERATIONS)[number]) => fixture.statements[operation](fixture.named("a"));
  const idsDue = async () => (await fixture.claim()).map(({ id }) => id);

  test.each(INSTANCE_STATES)("tell that an instance is $status when it is $state", async (state) => {
    expect(await enter(state)).toMatchObject({ status: state.status });
  });

  test.each(OPERATIONS)("%s nothing where there is no such instance", async (operation) => {
    await fixture.create({ id: "b" });
    await fixture.create({ id: "a", name: "refund" });
    await fixture.create({ id: "a", namespace: `${fixture.namespace}-other` });
    const before = await fixture.list();

    expect(await change(operation)).toEqual({ changed: false, instance: null });
    expect(await fixture.list()).toEqual(before);
  });

  test.each(OPERATIONS)("%s one instance, and leave its neighbours alone", async (operation) => {
    await fixture.create({ id: "a" });
    if (operation === "resume") await change("pause");
    const others = [{ id: "b" }, { id: "a", name: "refund" }, { id: "a", namespace: `${fixture.namespace}-other` }];
    const neighbours = others.map((other) => fixture.instance(other));
    await fixture.statements.insert(neighbours);
    const before = await fixture.statements.find(neighbours);

    expect(await change(operation)).toMatchObject({ changed: true });
    expect(await fixture.statements.find(neighbours)).toEqual(before);
  });

  describe("pausing", () => {
    test.each(unfinished)("holds what is $state", async (state) => {
      const before = await enter(state);
      const { instance } = await change("pause");

      const after = state.held
        ? { ...before, status: "waitingForPause" }
        : { ...before, status: "paused", availableAt: null };
      expect(instance).toEqual(after);
      expect(await fixture.find("a")).toEqual(after);
      if (!state.held) {
        fixture.clock.advance(LEASE_MS * 1000);
        expect(await idsDue()).toEqual([]);
      }
    });

    test.each(finished)("leaves alone what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("pause")).toEqual({ changed: false, instance: before });
      expect(await fixture.find("a")).toEqual(before);
    });

    test("reports its change", async () => {
      await fixture.create({ id: "a" });

      expect(await change("pause")).toMatchObject({ changed: true });
    });

    test("leaves an owner its token", async () => {
      const instance = await fixture.start({ id: "a" });
      await change("pause");

      expect(await fixture.commit(instance, RUNNING)).toMatchObject({ result: "written", wakes: 0, paused: true });
    });
  });

  describe("resuming", () => {
    test.each(paused)("lets an instance that is $state continue", async (state) => {
      const before = await enter(state);
      const { changed, instance } = await change("resume");

      expect(changed).toBe(true);
      if (state.held) {
        expect(instance).toEqual({ ...before, status: "running" });
        expect(await idsDue()).toEqual([]);
      } else {
        const status = before.startedAt === null ? "queued" : "waiting";
        expect(instance).toEqual({ ...before, status, availableAt: fixture.now });
        expect(await idsDue()).toEqual(["a"]);
      }
    });

    test.each(notPaused)("leaves alone what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("resume")).toEqual({ changed: false, instance: before });
      expect(await fixture.find("a")).toEqual(before);
    });

    test("wakes it, also if its owner is about to park it", async () => {
      const instance = await fixture.start({ id: "a" });
      await change("pause");
      await change("resume");

      expect(await fixture.park(instance)).toMatchObject({ result: "written", wakes: 1, paused: false });
      expect(await fixture.find("a")).toMatchObject({ availableAt: fixture.now });
    });

    test("counts neither as fresh nor as lost", async () => {
      await fixture.park(await fixture.start({ id: "a" }));
      await change("pause");
      await change("resume");

      expect(await fixture.claim({ takeOver: false })).toMatchObject([
        { id: "a", recoveries: 0, begun: true, wakes: 1 },
      ]);
    });

    test("comes before what is fresh, also if it had not begun", async () => {
      await fixture.create({ id: "a" });
      await change("pause");
      await fixture.create({ id: "fresh" });
      fixture.clock.advance(100);
      await change("resume");

      expect(await idsDue()).toEqual(["a", "fresh"]);
    });

    test("still takes over alone what was recovered before", async () => {
      await INSTANCE_STATES.find(({ state }) => state === "paused, given back after a takeover")?.enter(fixture, "a");
      await change("resume");

      expect(await fixture.claim({ takeOver: false })).toEqual([]);
      expect(await fixture.claim()).toMatchObject([{ id: "a", recoveries: 1 }]);
    });
  });

  describe("terminating", () => {
    test.each(unfinished)("ends what is $state", async (state) => {
      const before = await enter(state);
      const rollback = state.status === "rollingBack" ? '{"outcome":"failed"}' : null;
      const after = { ...before, status: "terminated", finishedAt: fixture.now, availableAt: null, rollback };

      expect(await change("terminate")).toEqual({ changed: true, instance: after });
      expect(await fixture.find("a")).toEqual(after);
      fixture.clock.advance(LEASE_MS * 1000);
      expect(await idsDue()).toEqual([]);
      expect(await fixture.statements.leaseTokens([fixture.namespace])).toEqual([]);
    });

    test.each(finished)("leaves alone what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("terminate")).toEqual({ changed: false, instance: before });
      expect(await fixture.find("a")).toEqual(before);
    });

    test("counts as a wake", async () => {
      const { ref } = await fixture.create({ id: "a" });
      await change("terminate");

      expect(await fixture.load({ ref, run: 1 })).toMatchObject({ wakes: 1 });
    });

    test("keeps the journal", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.commit(instance, RUNNING, { entries: [fixture.entry()] });
      await change("terminate");

      expect(await fixture.history(instance.ref)).toHaveLength(1);
    });
  });

  describe("restarting", () => {
    test.each(INSTANCE_STATES)("begins the next run of what is $state", async (state) => {
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
        availableAt: fixture.now,
      };

      expect(await change("restart")).toEqual({ changed: true, instance: after });
      expect(await fixture.find("a")).toEqual(after);
      expect(await fixture.pastRuns(ref)).toEqual([
        { run: 1, version: 0, status: state.status, output, error, rollback: null, startedAt, finishedAt },
      ]);
      expect(await fixture.claim({ takeOver: false })).toMatchObject([{ id: "a", run: 2, recoveries: 0 }]);
    });

    test("keeps how every run ended, in their order", async () => {
      const { ref } = await fixture.create({ id: "a" });
      for (const outcome of [COMPLETED, ERRORED, COMPLETED]) {
        await fixture.commit(await fixture.claimOne(), outcome);
        await change("restart");
      }

      const runs = await fixture.pastRuns(ref);
      expect(runs.map(({ run, status, output, error }) => [run, status, output ?? error])).toEqual([
        [1, "complete", '{"sum":7}'],
        [2, "errored", '{"message":"no"}'],
        [3, "complete", '{"sum":7}'],
      ]);
    });

    test("begins a journal of its own, and keeps the old one", async () => {
      const first = await fixture.start({ id: "a" });
      await fixture.commit(first, RUNNING, { entries: [fixture.entry({ name: "first" })] });
      await change("restart");
      const second = await fixture.claimOne();
      expect(second).toMatchObject({ ref: first.ref, params: first.params, wakes: 1 });

      expect(await fixture.commit(second, RUNNING, { entries: [fixture.entry({ name: "second" })] })).toMatchObject({
        result: "written",
      });
      expect((await fixture.history(first.ref)).map(({ run, name }) => [run, name])).toEqual([
        [1, "first"],
        [2, "second"],
      ]);
    });

    test("waits for its turn like what is fresh", async () => {
      const instance = await fixture.start({ id: "a" });
      await fixture.park(await fixture.start({ id: "slept" }), { dueAt: fixture.now + 100 });
      await fixture.commit(instance, COMPLETED);
      await change("restart");
      fixture.clock.advance(100);

      expect(await idsDue()).toEqual(["slept", "a"]);
    });

    test("counts as a wake, so that no owner parks over it", async () => {
      const { ref } = await fixture.create({ id: "a" });
      await change("restart");

      expect(await fixture.load({ ref, run: 2 })).toMatchObject({ wakes: 1 });
    });
  });

  describe("deleting", () => {
    test.each(INSTANCE_STATES)("removes what is $state", async (state) => {
      const before = await enter(state);

      expect(await change("delete")).toEqual({ changed: true, instance: before });
      expect(await fixture.find("a")).toBeNull();
      fixture.clock.advance(LEASE_MS * 1000);
      expect(await idsDue()).toEqual([]);
    });

    test("removes everything that belongs to it, and nothing else", async () => {
      const refs: Record<string, string> = {};
      for (const id of ["older", "a", "newer"]) {
        const first = await fixture.start({ id });
        refs[id] = first.ref;
        await fixture.commit(first, RUNNING, { entries: [fixture.entry()] });
        await fixture.statements.restart(fixture.named(id));
        await fixture.send(id);
        await fixture.commit(await fixture.claimOne(), RUNNING, { entries: [fixture.entry()] });
      }
      await change("delete");

      const ref = refs.a as string;
      expect(await fixture.history(ref)).toEqual([]);
      expect(await fixture.pastRuns(ref)).toEqual([]);
      for (const kept of [refs.older, refs.newer] as string[]) {
        expect(await fixture.history(kept)).toHaveLength(2);
        expect(await fixture.pastRuns(kept)).toHaveLength(1);
        expect(await fixture.load({ ref: kept, run: 2 })).toMatchObject({ events: [{ id: "event-1" }] });
      }
      await fixture.create({ id: "a", ref });
      expect(await fixture.load({ ref, run: 1 })).toMatchObject({ wakes: 0, entries: [], events: [] });
      await fixture.statements.restart(fixture.named("a"));
      expect(await fixture.load({ ref, run: 2 })).toMatchObject({ entries: [], events: [] });
    });

    test("makes room for another instance of the same id", async () => {
      const { ref } = await fixture.create({ id: "a" });
      await change("delete");

      const created = await fixture.create({ id: "a" });
      expect(created).toMatchObject({ result: "created" });
      expect(created.ref).not.toBe(ref);
    });
  });
});
