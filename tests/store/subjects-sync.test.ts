import { describe, expect, it } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { LEASE_MS, useSubjects } from "../support/use-subjects.ts";

describe.each(ENGINES)("a sync of subjects on $name", (engine) => {
  const test = useSubjects(engine);

  it("creates what is missing, with what was given", async () => {
    const full = test.discovered("b", { group: "north", cursor: '{"page":1}', meta: '"m"', dueAt: test.now + 5 });
    expect(await test.sync(["a", full])).toEqual({ created: 2, refreshed: 0 });

    expect(await test.get("a")).toEqual({
      ...test.scope,
      subjectKey: "a",
      group: null,
      status: "idle",
      revision: 1,
      cursor: "null",
      meta: "null",
      dueAt: test.now,
      leaseOwner: null,
      leaseExpiresAt: null,
      attempts: 0,
      failures: 0,
      timeouts: 0,
      error: null,
      lastStartedAt: null,
      lastSuccessAt: null,
      lastFailureAt: null,
      createdAt: test.now,
      updatedAt: test.now,
    });
    expect(await test.get("b")).toMatchObject({
      group: "north",
      cursor: '{"page":1}',
      meta: '"m"',
      dueAt: test.now + 5,
    });
  });

  it("changes nothing, not even a revision, where nothing differs", async () => {
    const same = test.discovered("a", { cursor: '{"page":1}', meta: '{"a":[1]}', group: "g", dueAt: test.now });
    await test.sync([same]);
    const before = await test.get();
    test.clock.advance(10);

    expect(await test.sync([same])).toEqual({ created: 0, refreshed: 0 });
    expect(await test.sync(["a"])).toEqual({ created: 0, refreshed: 0 });
    expect(await test.get()).toEqual(before);
  });

  it.each([
    ["cursor", { cursor: '{"page":2}' }, { cursor: '{"page":2}' }],
    ["meta", { meta: '"new"' }, { meta: '"new"' }],
    ["group", { group: "south" }, { group: "south" }],
    ["group that is left", { group: "" }, { group: null }],
    ["due time", { dueAt: 5 }, { dueAt: 5 }],
  ])("refreshes the %s of a known subject, and only that", async (_, given, expected) => {
    await test.sync([test.discovered("a", { cursor: '{"page":1}', meta: '"old"', group: "north", dueAt: 9 })]);
    const before = await test.get();

    expect(await test.sync([test.discovered("a", given)])).toEqual({ created: 0, refreshed: 1 });
    expect(await test.get()).toEqual({ ...before, ...expected, revision: 2, updatedAt: test.now });
  });

  it.each(["leased", "running"] as const)("doesn't touch one that is %s", async (status) => {
    let subject = await test.start();
    if (status === "running") subject = await test.changed(subject, "checkpoint", { cursor: '{"page":7}' });
    const refresh = test.discovered("a", { cursor: '{"page":1}', meta: '"new"', group: "g", dueAt: 1 });

    expect(await test.sync([refresh])).toEqual({ created: 0, refreshed: 0 });
    expect(await test.get()).toEqual(subject);
    expect(subject.status).toBe(status);
  });

  it.each([
    ["leased", false],
    ["leased", true],
    ["running", false],
    ["running", true],
  ] as const)(
    "leaves one alone that is %s and whose lease has run out, keeping progress: %s",
    async (status, keepProgress) => {
      let subject = await test.start("a", { cursor: '{"page":1}' });
      if (status === "running") subject = await test.changed(subject, "checkpoint", { cursor: '{"page":7}' });
      test.clock.advance(LEASE_MS);
      const again = test.discovered("a", { cursor: '{"page":1}', meta: '"new"', group: "g", dueAt: test.now + 5000 });

      expect(await test.sync([again, "b"], { keepProgress })).toEqual({ created: 1, refreshed: 0 });
      expect(await test.get()).toEqual(subject);
      expect(await test.claimKeys()).toEqual(["a", "b"]);
      expect(await test.get()).toMatchObject({ status: "leased", cursor: subject.cursor, attempts: 2 });
    },
  );

  it("lets an owner finish whose lease has run out, as long as no other has claimed its subject", async () => {
    const owner = await test.start();
    test.clock.advance(LEASE_MS);
    await test.sync([test.discovered("a", { meta: '"new"' })]);

    expect(await test.change(owner, "complete")).toMatchObject({ result: "changed" });
  });

  it("leaves cursor and due time of known subjects alone where progress is to be kept", async () => {
    await test.sync([test.discovered("a", { cursor: '{"page":5}', dueAt: test.now + 1000 })]);
    const again = test.discovered("a", { cursor: '{"page":1}', meta: '"new"', dueAt: test.now });
    const created = test.discovered("b", { cursor: '{"page":1}', dueAt: 7 });

    expect(await test.sync([again, created], { keepProgress: true })).toEqual({ created: 1, refreshed: 1 });
    expect(await test.get("a")).toMatchObject({ cursor: '{"page":5}', meta: '"new"', dueAt: test.now + 1000 });
    expect(await test.get("b")).toMatchObject({ cursor: '{"page":1}', dueAt: 7 });
  });

  it.each([true, false])("makes one due that rests, keeping progress: %s", async (keepProgress) => {
    const owner = await test.start("a", { cursor: '"c"' });
    expect(await test.changed(owner, "complete")).toMatchObject({ status: "idle", dueAt: null });
    expect(await test.claimKeys()).toEqual([]);

    expect(await test.sync(["a"], { keepProgress })).toEqual({ created: 0, refreshed: 1 });
    expect(await test.get()).toMatchObject({ dueAt: test.now, cursor: '"c"' });
    expect(await test.claimKeys()).toEqual(["a"]);
  });

  it("forgets nothing that isn't there any more, unless it is told to retire it", async () => {
    await test.sync(["a", "b", "c"]);
    await test.sync(["a"]);
    expect((await test.list()).map(({ status }) => status)).toEqual(["idle", "idle", "idle"]);

    expect(await test.statements.retire(test.scope, ["a", "new"])).toBe(2);
    expect((await test.list()).map(({ status }) => status)).toEqual(["idle", "retired", "retired"]);
    expect(await test.get("b")).toMatchObject({ revision: 2, dueAt: null });
    expect(await test.claimKeys()).toEqual(["a"]);
    expect(await test.statements.retire(test.scope, ["a"])).toBe(0);
  });

  it("retires nothing that somebody has, and nothing of other dispatchers", async () => {
    await test.sync(["a"], { dispatcherId: "other" });
    const owner = await test.start();

    expect(await test.statements.retire(test.scope, [])).toBe(0);
    expect(await test.get()).toEqual(owner);
    test.clock.advance(LEASE_MS);
    expect(await test.statements.retire(test.scope, [])).toBe(1);
    expect(await test.claimKeys({ dispatcherId: "other" })).toEqual(["a"]);
  });

  it("brings a retired subject back, with the cursor that it had", async () => {
    await test.sync([test.discovered("a", { cursor: '{"page":3}' })]);
    await test.statements.retire(test.scope, []);

    expect(await test.sync(["a"])).toEqual({ created: 0, refreshed: 1 });
    expect(await test.get()).toMatchObject({ status: "idle", cursor: '{"page":3}', dueAt: test.now, revision: 3 });
  });

  it("keeps the profiles and dispatchers apart", async () => {
    await test.sync(["a"]);
    await test.sync([test.discovered("a", { meta: '"x"' })], { profile: `${test.scope.profile}-2` });
    await test.sync([test.discovered("a", { meta: '"y"' })], { dispatcherId: "other" });

    expect(await test.get()).toMatchObject({ meta: "null", revision: 1 });
    expect(await test.claimKeys()).toEqual(["a"]);
    expect(await test.claim({ dispatcherId: "other" })).toMatchObject({ subjects: [{ meta: '"y"' }] });
  });

  it("keeps what databases find hard", async () => {
    const texts = ['"\\u0000"', '"\\ud800"', '{"a":"\\\\\\"{},null"}', '{"b": 1,  "a": 2}'];
    const keys = texts.map((_, index) => `"k,{}\\'${index}é`);
    await test.sync(keys.map((key, index) => test.discovered(key, { cursor: texts[index] as string })));

    expect((await test.list()).map(({ cursor }) => cursor)).toEqual(texts);
    expect((await test.list()).map(({ subjectKey }) => subjectKey)).toEqual(keys);
  });
});
