import { describe, expect, test } from "vitest";
import { DRIVERS } from "../support/engines.ts";
import { LEASE_MS, useSubjects } from "../support/use-subjects.ts";

describe.each(DRIVERS)("a sync of subjects on $name", (engine) => {
  const fixture = useSubjects(engine);

  test("creates what is missing, with what was given", async () => {
    const full = fixture.discovered("b", { group: "north", cursor: '{"page":1}', meta: '"m"', dueAt: fixture.now + 5 });
    expect(await fixture.sync(["a", full])).toEqual({ created: 2, refreshed: 0 });

    expect(await fixture.get("a")).toEqual({
      ...fixture.scope,
      subjectKey: "a",
      group: null,
      status: "idle",
      revision: 1,
      cursor: "null",
      meta: "null",
      dueAt: fixture.now,
      leaseOwner: null,
      leaseExpiresAt: null,
      attempts: 0,
      failures: 0,
      timeouts: 0,
      error: null,
      lastStartedAt: null,
      lastSuccessAt: null,
      lastFailureAt: null,
      createdAt: fixture.now,
      updatedAt: fixture.now,
    });
    expect(await fixture.get("b")).toMatchObject({
      group: "north",
      cursor: '{"page":1}',
      meta: '"m"',
      dueAt: fixture.now + 5,
    });
  });

  test("changes nothing, not even a revision, where nothing differs", async () => {
    const same = fixture.discovered("a", { cursor: '{"page":1}', meta: '{"a":[1]}', group: "g", dueAt: fixture.now });
    await fixture.sync([same]);
    const before = await fixture.get();
    fixture.clock.advance(10);

    expect(await fixture.sync([same])).toEqual({ created: 0, refreshed: 0 });
    expect(await fixture.sync(["a"])).toEqual({ created: 0, refreshed: 0 });
    expect(await fixture.get()).toEqual(before);
  });

  test.each([
    ["cursor", { cursor: '{"page":2}' }, { cursor: '{"page":2}' }],
    ["meta", { meta: '"new"' }, { meta: '"new"' }],
    ["group", { group: "south" }, { group: "south" }],
    ["group that is left", { group: "" }, { group: null }],
    ["due time", { dueAt: 5 }, { dueAt: 5 }],
  ])("refreshes the %s of a known subject, and only that", async (_, given, expected) => {
    await fixture.sync([fixture.discovered("a", { cursor: '{"page":1}', meta: '"old"', group: "north", dueAt: 9 })]);
    const before = await fixture.get();

    expect(await fixture.sync([fixture.discovered("a", given)])).toEqual({ created: 0, refreshed: 1 });
    expect(await fixture.get()).toEqual({ ...before, ...expected, revision: 2, updatedAt: fixture.now });
  });

  test.each(["leased", "running"] as const)("doesn't touch one that is %s", async (status) => {
    let subject = await fixture.start();
    if (status === "running") subject = await fixture.changed(subject, "checkpoint", { cursor: '{"page":7}' });
    const refresh = fixture.discovered("a", { cursor: '{"page":1}', meta: '"new"', group: "g", dueAt: 1 });

    expect(await fixture.sync([refresh])).toEqual({ created: 0, refreshed: 0 });
    expect(await fixture.get()).toEqual(subject);
    expect(subject.status).toBe(status);
  });

  test.each([
    ["leased", false],
    ["leased", true],
    ["running", false],
    ["running", true],
  ] as const)(
    "leaves one alone that is %s and whose lease has run out, keeping progress: %s",
    async (status, keepProgress) => {
      let subject = await fixture.start("a", { cursor: '{"page":1}' });
      if (status === "running") subject = await fixture.changed(subject, "checkpoint", { cursor: '{"page":7}' });
      fixture.clock.advance(LEASE_MS);
      const again = fixture.discovered("a", {
        cursor: '{"page":1}',
        meta: '"new"',
        group: "g",
        dueAt: fixture.now + 5000,
      });

      expect(await fixture.sync([again, "b"], { keepProgress })).toEqual({ created: 1, refreshed: 0 });
      expect(await fixture.get()).toEqual(subject);
      expect(await fixture.claimKeys()).toEqual(["a", "b"]);
      expect(await fixture.get()).toMatchObject({ status: "leased", cursor: subject.cursor, attempts: 2 });
    },
  );

  test("lets an owner finish whose lease has run out, as long as no other has claimed its subject", async () => {
    const owner = await fixture.start();
    fixture.clock.advance(LEASE_MS);
    await fixture.sync([fixture.discovered("a", { meta: '"new"' })]);

    expect(await fixture.change(owner, "complete")).toMatchObject({ result: "changed" });
  });

  test("leaves cursor and due time of known subjects alone where progress is to be kept", async () => {
    await fixture.sync([fixture.discovered("a", { cursor: '{"page":5}', dueAt: fixture.now + 1000 })]);
    const again = fixture.discovered("a", { cursor: '{"page":1}', meta: '"new"', dueAt: fixture.now });
    const created = fixture.discovered("b", { cursor: '{"page":1}', dueAt: 7 });

    expect(await fixture.sync([again, created], { keepProgress: true })).toEqual({ created: 1, refreshed: 1 });
    expect(await fixture.get("a")).toMatchObject({ cursor: '{"page":5}', meta: '"new"', dueAt: fixture.now + 1000 });
    expect(await fixture.get("b")).toMatchObject({ cursor: '{"page":1}', dueAt: 7 });
  });

  test.each([true, false])("makes one due that rests, keeping progress: %s", async (keepProgress) => {
    const owner = await fixture.start("a", { cursor: '"c"' });
    expect(await fixture.changed(owner, "complete")).toMatchObject({ status: "idle", dueAt: null });
    expect(await fixture.claimKeys()).toEqual([]);

    expect(await fixture.sync(["a"], { keepProgress })).toEqual({ created: 0, refreshed: 1 });
    expect(await fixture.get()).toMatchObject({ dueAt: fixture.now, cursor: '"c"' });
    expect(await fixture.claimKeys()).toEqual(["a"]);
  });

  test("forgets nothing that isn't there any more, unless it is told to retire it", async () => {
    await fixture.sync(["a", "b", "c"]);
    await fixture.sync(["a"]);
    expect((await fixture.list()).map(({ status }) => status)).toEqual(["idle", "idle", "idle"]);

    expect(await fixture.statements.retire(fixture.scope, ["a", "new"])).toBe(2);
    expect((await fixture.list()).map(({ status }) => status)).toEqual(["idle", "retired", "retired"]);
    expect(await fixture.get("b")).toMatchObject({ revision: 2, dueAt: null });
    expect(await fixture.claimKeys()).toEqual(["a"]);
    expect(await fixture.statements.retire(fixture.scope, ["a"])).toBe(0);
  });

  test("retires no subject that has an owner, and none of other dispatchers", async () => {
    await fixture.sync(["a"], { dispatcherId: "other" });
    const owner = await fixture.start();

    expect(await fixture.statements.retire(fixture.scope, [])).toBe(0);
    expect(await fixture.get()).toEqual(owner);
    fixture.clock.advance(LEASE_MS);
    expect(await fixture.statements.retire(fixture.scope, [])).toBe(1);
    expect(await fixture.claimKeys({ dispatcherId: "other" })).toEqual(["a"]);
  });

  test("brings a retired subject back, with the cursor that it had", async () => {
    await fixture.sync([fixture.discovered("a", { cursor: '{"page":3}' })]);
    await fixture.statements.retire(fixture.scope, []);

    expect(await fixture.sync(["a"])).toEqual({ created: 0, refreshed: 1 });
    expect(await fixture.get()).toMatchObject({
      status: "idle",
      cursor: '{"page":3}',
      dueAt: fixture.now,
      revision: 3,
    });
  });

  test("keeps the profiles and dispatchers apart", async () => {
    await fixture.sync(["a"]);
    await fixture.sync([fixture.discovered("a", { meta: '"x"' })], { profile: `${fixture.scope.profile}-2` });
    await fixture.sync([fixture.discovered("a", { meta: '"y"' })], { dispatcherId: "other" });

    expect(await fixture.get()).toMatchObject({ meta: "null", revision: 1 });
    expect(await fixture.claimKeys()).toEqual(["a"]);
    expect(await fixture.claim({ dispatcherId: "other" })).toMatchObject({ subjects: [{ meta: '"y"' }] });
  });

  test("keeps what databases find hard", async () => {
    const texts = ['"\\u0000"', '"\\ud800"', '{"a":"\\\\\\"{},null"}', '{"b": 1,  "a": 2}'];
    const keys = texts.map((_, index) => `"k,{}\\'${index}é`);
    await fixture.sync(keys.map((key, index) => fixture.discovered(key, { cursor: texts[index] as string })));

    expect((await fixture.list()).map(({ cursor }) => cursor)).toEqual(texts);
    expect((await fixture.list()).map(({ subjectKey }) => subjectKey)).toEqual(keys);
  });
});
