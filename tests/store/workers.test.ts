import { describe, expect, test } from "vitest";
import type { WorkerInsert } from "../../src/store/workers/worker-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { useStore } from "../support/use-store.ts";

const DAY_MS = 86_400_000;

describe.each(DRIVERS)("workers in the store of $name", (engine) => {
  const subject = useStore(engine);

  function worker(id: string, namespace = subject.namespace): WorkerInsert {
    return {
      id: `${subject.namespace}-${id}`,
      host: "machine",
      pid: 12,
      version: "1.2.3",
      concurrency: { hooks: 5, workflows: 6 },
      work: { [namespace]: { hooks: ["greet"], workflows: ["checkout"] } },
    };
  }

  const statements = () => subject.store.workers.statements;
  const list = () => subject.store.workers.list(subject.namespace);

  test("are listed with all that they said about themselves, in the namespaces that they work in", async () => {
    const startedAt = subject.clock.now();
    await statements().beat(worker("one"));
    await statements().beat(worker("other", `${subject.namespace}-other`));
    subject.clock.advance(1000);
    await statements().beat(worker("one"));

    expect(await list()).toEqual([{ ...worker("one"), startedAt, seenAt: startedAt + 1000, silentMs: 0, alive: true }]);
  });

  test("are listed in the order in which they were seen, the last one first, up to a limit", async () => {
    for (const id of ["a", "b", "c"]) {
      await statements().beat(worker(id));
      subject.clock.advance(10);
    }
    await statements().beat(worker("b"));

    const listed = await statements().list(subject.namespace, 2);

    expect(listed.map(({ id }) => id)).toEqual([worker("b").id, worker("c").id]);
  });

  test("are dead after two missed heartbeats, by the database's time, and live again with the next one", async () => {
    await statements().beat(worker("one"));
    const { longestMs } = statements().pace;
    const alive = async () => (await list()).map((listed) => listed.alive);
    subject.clock.advance(2 * longestMs);
    expect(await alive()).toEqual([true]);
    subject.clock.advance(longestMs);
    expect(await alive()).toEqual([false]);
    await statements().beat(worker("one"));
    expect(await alive()).toEqual([true]);
  });

  test("are dead at once if their process is known to have ended", async () => {
    await statements().beat(worker("one"));
    const { workers } = subject.store;
    workers.isGone = (id) => id === worker("one").id;

    expect(await list()).toMatchObject([{ alive: false }]);
    workers.isGone = () => false;
  });

  test("write their heartbeat with the question for the next hook or instance", async () => {
    const scopes = [{ namespace: subject.namespace, names: ["greet"] }];
    await subject.insert({ processAt: subject.clock.now() + 5000 });
    const { hooks, instances } = subject.store;
    const seenAt = async () => (await list()).map((listed) => listed.seenAt - subject.clock.now());

    expect(await hooks.statements.nextWake(scopes, { takeOver: true, worker: worker("one") })).toBe(5000);
    expect(await seenAt()).toEqual([0]);
    subject.clock.advance(1000);
    expect(await instances.statements.nextWake(scopes, { takeOver: true, worker: worker("one") })).toBeNull();
    expect(await seenAt()).toEqual([0]);
    subject.clock.advance(1000);
    expect(await hooks.statements.nextWake([], { takeOver: true, worker: worker("one") })).toBeNull();
    expect(await seenAt()).toEqual([0]);
    subject.clock.advance(1000);
    expect(await hooks.statements.nextWake(scopes, { takeOver: true })).toBe(2000);
    expect(await seenAt()).toEqual([-1000]);
  });

  test("are removed when they stop, and a day after they died", async () => {
    await statements().beat(worker("stopped"));
    await statements().beat(worker("dead"));
    await statements().remove(worker("stopped").id);
    expect((await list()).map(({ id }) => id)).toEqual([worker("dead").id]);
    subject.clock.advance(DAY_MS);
    await statements().beat(worker("new"));
    await statements().sweep();
    expect(await list()).toHaveLength(2);
    subject.clock.advance(1);
    expect(await statements().sweep()).toBeGreaterThanOrEqual(1);
    expect((await list()).map(({ id }) => id)).toEqual([worker("new").id]);
  });
});
