import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { COMPLETED, LEASE_MS, useInstances } from "../support/use-instances.ts";

describe.each(DRIVERS)("creating instances on $name", (engine) => {
  const fixture = useInstances(engine);

  test("makes them due at once", async () => {
    const instance = fixture.instance({ id: "a", params: '{"order": 1}' });

    expect(await fixture.statements.insert([instance])).toEqual([
      { result: "created", ref: instance.ref, at: fixture.now },
    ]);
    expect(await fixture.find("a")).toEqual({
      ...fixture.named("a"),
      ref: instance.ref,
      run: 1,
      version: 0,
      status: "queued",
      params: '{"order": 1}',
      output: null,
      error: null,
      labels: null,
      priority: 0,
      schedule: null,
      slotKey: null,
      rateKey: null,
      trace: null,
      parent: null,
      rollback: null,
      createdAt: fixture.now,
      startedAt: null,
      finishedAt: null,
      availableAt: fixture.now,
    });
    expect(await fixture.claim()).toHaveLength(1);
  });

  test("may claim them for their creator", async () => {
    await fixture.create({ id: "a", lease: { lock: "mine", leaseMs: 1000 } });
    const created = fixture.now;

    expect(await fixture.find("a")).toMatchObject({
      status: "running",
      startedAt: created,
      availableAt: created + 1000,
    });
    expect(await fixture.claim()).toEqual([]);
    fixture.clock.advance(1000);
    expect(await fixture.claim()).toMatchObject([{ id: "a", recoveries: 1, begun: true, dueAt: created + 1000 }]);
  });

  test("lets the creator write what it has claimed", async () => {
    const { ref } = await fixture.create({ id: "a", lease: { lock: "mine", leaseMs: LEASE_MS } });

    expect(await fixture.commit({ ref, run: 1, lock: "mine" }, COMPLETED)).toMatchObject({ result: "written" });
    expect(await fixture.find("a")).toMatchObject({ status: "complete" });
  });

  test("leaves an instance alone that has the id, and tells which", async () => {
    const first = await fixture.create({ id: "a", params: "1" });
    fixture.clock.advance(500);

    expect(await fixture.create({ id: "a", params: "2" })).toEqual({ ...first, result: "existing" });
    expect(await fixture.find("a")).toMatchObject({ ref: first.ref, params: "1", createdAt: first.at });
    expect(await fixture.list()).toHaveLength(1);
  });

  test("leaves a finished instance alone that has the id", async () => {
    const instance = await fixture.start({ id: "a" });
    await fixture.commit(instance, COMPLETED);

    expect(await fixture.create({ id: "a" })).toMatchObject({ result: "existing", ref: instance.ref });
    expect(await fixture.find("a")).toMatchObject({ status: "complete" });
  });

  test("is told that it created what it sends again, also when that has gone on since", async () => {
    const instance = fixture.instance({ id: "a", lease: { lock: "mine", leaseMs: LEASE_MS } });
    const [first] = await fixture.statements.insert([instance]);
    fixture.clock.advance(500);

    expect(await fixture.statements.insert([instance])).toEqual([first]);
    await fixture.commit({ ref: instance.ref, run: 1, lock: "mine" }, COMPLETED);
    expect(await fixture.statements.insert([instance])).toEqual([first]);
    expect(await fixture.find("a")).toMatchObject({ status: "complete", createdAt: first?.at });
  });

  test("returns a child that exists to the same step of the same parent, and to no other", async () => {
    const first = await fixture.create({ id: "a", parent: "p 1 create 1" });
    fixture.clock.advance(500);

    expect(await fixture.create({ id: "a", parent: "p 1 create 1" })).toEqual(first);
    expect(await fixture.create({ id: "a", parent: "p 1 create 2" })).toEqual({ ...first, result: "existing" });
    expect(await fixture.create({ id: "a", parent: null })).toEqual({ ...first, result: "existing" });
  });

  test("doesn't take two without a parent for children of the same", async () => {
    await fixture.create({ id: "a" });

    expect(await fixture.create({ id: "a" })).toMatchObject({ result: "existing" });
  });

  test("gives the results in the order of a batch, in which the first of an id wins", async () => {
    const known = await fixture.create({ id: "known" });
    const ids = ["z", "known", "a", "z", "m"];
    const batch = ids.map((id, index) => fixture.instance({ id, params: String(index) }));

    const results = await fixture.statements.insert(batch);

    expect(results.map(({ result }) => result)).toEqual(["created", "existing", "created", "existing", "created"]);
    const refs = batch.map(({ ref }) => ref);
    expect(results.map(({ ref }) => ref)).toEqual([refs[0], known.ref, refs[2], refs[0], refs[4]]);
    expect(await fixture.find("z")).toMatchObject({ params: "0" });
    expect(await fixture.list()).toHaveLength(4);
  });

  test("may mix those that are claimed and those that aren't", async () => {
    const lease = { lock: "mine", leaseMs: LEASE_MS };
    await fixture.statements.insert([fixture.instance({ id: "a", lease }), fixture.instance({ id: "b" })]);

    expect(await fixture.find("a")).toMatchObject({ status: "running" });
    expect(await fixture.find("b")).toMatchObject({ status: "queued" });
  });

  test("keeps ids apart by workflow and namespace", async () => {
    const elsewhere = `${fixture.namespace}-other`;
    const results = await fixture.statements.insert([
      fixture.instance({ id: "a" }),
      fixture.instance({ id: "a", name: "refund" }),
      fixture.instance({ id: "a", namespace: elsewhere }),
    ]);

    expect(results.map(({ result }) => result)).toEqual(["created", "created", "created"]);
  });

  test("refuses parameters that aren't JSON, and then creates none of the batch", async () => {
    const batch = [fixture.instance({ id: "a" }), fixture.instance({ id: "b", params: "{" })];

    await expect(fixture.statements.insert(batch)).rejects.toMatchObject({ transient: false });
    expect(await fixture.list()).toEqual([]);
  });

  test("keeps what only some of a batch have", async () => {
    const schedule = '{"cron":"0 9 * * *","scheduledTime":1000}';
    const traits = {
      labels: '{"tenant":"a \\"quoted\\" one"}',
      priority: -3,
      successRetention: 1000,
      errorRetention: null,
      timeout: null,
      schedule,
      trace: "00-trace-01",
      slotKey: null,
      rateKey: null,
    };
    await fixture.statements.insert([fixture.instance({ id: "a", traits }), fixture.instance({ id: "b" })]);

    expect(await fixture.find("a")).toMatchObject({
      labels: traits.labels,
      priority: -3,
      schedule,
      trace: traits.trace,
    });
    expect(await fixture.find("b")).toMatchObject({ labels: null, priority: 0, schedule: null, trace: null });
    const claimed = await fixture.claim();
    expect(claimed.map((one) => one.schedule)).toEqual([null, schedule]); // the priority is low
    expect(claimed.map((one) => one.trace)).toEqual([null, traits.trace]);
  });

  test("does nothing with nothing", async () => {
    expect(await fixture.statements.insert([])).toEqual([]);
  });
});
