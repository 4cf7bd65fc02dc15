import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { LEASE_MS, useInstances } from "../support/use-instances.ts";
import { COMPLETED, FAILED, KEPT, retryAfter, useStore } from "../support/use-store.ts";

const NOTHING = { due: 0, waiting: 0, running: 0, inLine: 0, oldestDueMs: null };
const LIMITS = { lane: 100, deadLetters: 100 };

describe.each(ENGINES)("the backlog of hooks on $name", (engine) => {
  const subject = useStore(engine);
  const read = (limits = LIMITS) => subject.store.engine.backlog.read(subject.namespace, limits);

  test("is nothing in an empty namespace", async () => {
    expect(await read()).toEqual({ hooks: NOTHING, instances: NOTHING, deadLetters: 0 });
  });

  test("tells due, waiting and running hooks and dead letters apart, and leaves completed ones out", async () => {
    for (const outcome of [COMPLETED, KEPT, FAILED, FAILED, retryAfter(60_000)]) {
      await subject.insert();
      await subject.settle(await subject.claimOne(), outcome);
    }
    await subject.insert();
    await subject.claimOne();
    await subject.insert();
    subject.clock.advance(1500);
    await subject.insert();
    await subject.insert({ processAt: subject.clock.now() + 60_000 });

    expect(await read()).toMatchObject({
      hooks: { due: 2, waiting: 2, running: 1, inLine: 0, oldestDueMs: 1500 },
      instances: NOTHING,
      deadLetters: 2,
    });
  });

  test("counts hooks that stand in line, and has no oldest because of them", async () => {
    for (const id of ["a", "b"]) {
      await subject.insert({ id, line: { lineKey: `$hook/${subject.namespace}/greet`, rateKey: null } });
    }
    subject.clock.advance(10);

    expect(await read()).toMatchObject({ hooks: { due: 0, inLine: 2, oldestDueMs: null } });
  });

  test("counts a hook of a lost worker as due, from the end of its lease", async () => {
    await subject.insert();
    await subject.claimOne();
    subject.clock.advance(LEASE_MS + 700);

    expect(await read()).toMatchObject({ hooks: { due: 1, running: 0, oldestDueMs: 700 } });
  });

  test("is that of one namespace, and is counted up to the limit", async () => {
    await subject.insertMany(7);
    await subject.insert({ namespace: `${subject.namespace}-other` });

    expect((await read()).hooks.due).toBe(7);
    expect((await read({ lane: 5, deadLetters: 5 })).hooks.due).toBe(5);
  });
});

describe.each(ENGINES)("the backlog of instances on $name", (engine) => {
  const subject = useInstances(engine);
  const read = async () => (await subject.store.store.engine.backlog.read(subject.namespace, LIMITS)).instances;

  test("tells due, waiting and running instances apart, and leaves finished ones out", async () => {
    await subject.commit(await subject.start(), { kind: "completed", output: "null" });
    await subject.park(await subject.start());
    await subject.start();
    await subject.create();
    subject.clock.advance(250);

    expect(await read()).toEqual({ due: 1, waiting: 1, running: 1, inLine: 0, oldestDueMs: 250 });
  });

  test("knows since when an instance with a priority is due, and counts those in line apart", async () => {
    await subject.join("urgent", { priority: 50 });
    subject.clock.advance(4000);
    await subject.join("in line", { slotKey: "line" });

    expect(await read()).toEqual({ due: 1, waiting: 0, running: 0, inLine: 1, oldestDueMs: 4000 });
  });
});
