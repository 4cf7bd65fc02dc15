import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { COMPLETED, LEASE_MS, useInstances } from "../support/use-instances.ts";

describe.each(ENGINES)("creating instances on $name", (engine) => {
  const test = useInstances(engine);

  it("makes them due at once", async () => {
    const instance = test.instance({ id: "a", params: '{"order": 1}' });

    expect(await test.statements.insert([instance])).toEqual([{ result: "created", ref: instance.ref, at: test.now }]);
    expect(await test.find("a")).toEqual({
      ...test.named("a"),
      ref: instance.ref,
      run: 1,
      status: "queued",
      params: '{"order": 1}',
      output: null,
      error: null,
      labels: null,
      priority: 0,
      schedule: null,
      rollback: null,
      createdAt: test.now,
      startedAt: null,
      finishedAt: null,
      availableAt: test.now,
    });
    expect(await test.claim()).toHaveLength(1);
  });

  it("may claim them for their creator", async () => {
    await test.create({ id: "a", lease: { lock: "mine", leaseMs: 1000 } });
    const created = test.now;

    expect(await test.find("a")).toMatchObject({
      status: "running",
      startedAt: created,
      availableAt: created + 1000,
    });
    expect(await test.claim()).toEqual([]);
    test.clock.advance(1000);
    expect(await test.claim()).toMatchObject([{ id: "a", recoveries: 1, begun: true, dueAt: created + 1000 }]);
  });

  it("lets the creator write what it has claimed", async () => {
    const { ref } = await test.create({ id: "a", lease: { lock: "mine", leaseMs: LEASE_MS } });

    expect(await test.commit({ ref, run: 1, lock: "mine" }, COMPLETED)).toMatchObject({ result: "written" });
    expect(await test.find("a")).toMatchObject({ status: "complete" });
  });

  it("leaves an instance alone that has the id, and tells which", async () => {
    const first = await test.create({ id: "a", params: "1" });
    test.clock.advance(500);

    expect(await test.create({ id: "a", params: "2" })).toEqual({ ...first, result: "existing" });
    expect(await test.find("a")).toMatchObject({ ref: first.ref, params: "1", createdAt: first.at });
    expect(await test.list()).toHaveLength(1);
  });

  it("leaves a finished instance alone that has the id", async () => {
    const instance = await test.start({ id: "a" });
    await test.commit(instance, COMPLETED);

    expect(await test.create({ id: "a" })).toMatchObject({ result: "existing", ref: instance.ref });
    expect(await test.find("a")).toMatchObject({ status: "complete" });
  });

  it("is told that it created what it sends again, also when that has gone on since", async () => {
    const instance = test.instance({ id: "a", lease: { lock: "mine", leaseMs: LEASE_MS } });
    const [first] = await test.statements.insert([instance]);
    test.clock.advance(500);

    expect(await test.statements.insert([instance])).toEqual([first]);
    await test.commit({ ref: instance.ref, run: 1, lock: "mine" }, COMPLETED);
    expect(await test.statements.insert([instance])).toEqual([first]);
    expect(await test.find("a")).toMatchObject({ status: "complete", createdAt: first?.at });
  });

  it("gives the same step of the same parent what that created before, and nobody else", async () => {
    const first = await test.create({ id: "a", parent: "p 1 create 1" });
    test.clock.advance(500);

    expect(await test.create({ id: "a", parent: "p 1 create 1" })).toEqual(first);
    expect(await test.create({ id: "a", parent: "p 1 create 2" })).toEqual({ ...first, result: "existing" });
    expect(await test.create({ id: "a", parent: null })).toEqual({ ...first, result: "existing" });
  });

  it("doesn't take two without a parent for children of the same", async () => {
    await test.create({ id: "a" });

    expect(await test.create({ id: "a" })).toMatchObject({ result: "existing" });
  });

  it("gives the results in the order of a batch, in which the first of an id wins", async () => {
    const known = await test.create({ id: "known" });
    const ids = ["z", "known", "a", "z", "m"];
    const batch = ids.map((id, index) => test.instance({ id, params: String(index) }));

    const results = await test.statements.insert(batch);

    expect(results.map(({ result }) => result)).toEqual(["created", "existing", "created", "existing", "created"]);
    const refs = batch.map(({ ref }) => ref);
    expect(results.map(({ ref }) => ref)).toEqual([refs[0], known.ref, refs[2], refs[0], refs[4]]);
    expect(await test.find("z")).toMatchObject({ params: "0" });
    expect(await test.list()).toHaveLength(4);
  });

  it("may mix those that are claimed and those that aren't", async () => {
    const lease = { lock: "mine", leaseMs: LEASE_MS };
    await test.statements.insert([test.instance({ id: "a", lease }), test.instance({ id: "b" })]);

    expect(await test.find("a")).toMatchObject({ status: "running" });
    expect(await test.find("b")).toMatchObject({ status: "queued" });
  });

  it("keeps ids apart by workflow and namespace", async () => {
    const elsewhere = `${test.namespace}-other`;
    const results = await test.statements.insert([
      test.instance({ id: "a" }),
      test.instance({ id: "a", name: "refund" }),
      test.instance({ id: "a", namespace: elsewhere }),
    ]);

    expect(results.map(({ result }) => result)).toEqual(["created", "created", "created"]);
  });

  it("refuses parameters that aren't JSON, and then creates none of the batch", async () => {
    const batch = [test.instance({ id: "a" }), test.instance({ id: "b", params: "{" })];

    await expect(test.statements.insert(batch)).rejects.toMatchObject({ transient: false });
    expect(await test.list()).toEqual([]);
  });

  it("keeps what only some of a batch have", async () => {
    const schedule = '{"cron":"0 9 * * *","scheduledTime":1000}';
    const traits = {
      labels: '{"tenant":"a \\"quoted\\" one"}',
      priority: -3,
      successRetention: 1000,
      errorRetention: null,
      schedule,
      slotKey: null,
      rateKey: null,
    };
    await test.statements.insert([test.instance({ id: "a", traits }), test.instance({ id: "b" })]);

    expect(await test.find("a")).toMatchObject({ labels: traits.labels, priority: -3, schedule });
    expect(await test.find("b")).toMatchObject({ labels: null, priority: 0, schedule: null });
    expect((await test.claim()).map((claimed) => claimed.schedule)).toEqual([null, schedule]); // the priority is low
  });

  it("does nothing with nothing", async () => {
    expect(await test.statements.insert([])).toEqual([]);
  });
});
