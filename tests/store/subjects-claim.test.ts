import { describe, expect, it } from "vitest";
import type { SubjectSync } from "../../src/store/subject-records.ts";
import { ENGINES } from "../support/engines.ts";
import { LEASE_MS, useSubjects } from "../support/use-subjects.ts";

describe.each(ENGINES)("a claim of subjects on $name", (engine) => {
  const test = useSubjects(engine);
  const dueAt = (subjectKey: string, time: number) => test.discovered(subjectKey, { dueAt: time });

  it("gives the lease and the new revision", async () => {
    await test.sync([test.discovered("a", { cursor: '"c"', dueAt: 7 })]);

    expect(await test.claimOne({ owner: "process 1" })).toMatchObject({
      status: "leased",
      revision: 2,
      attempts: 1,
      leaseOwner: "process 1",
      leaseExpiresAt: test.now + LEASE_MS,
      cursor: '"c"',
      dueAt: 7,
    });
  });

  it("takes the oldest due first, no more than it was asked for", async () => {
    await test.sync([dueAt("c", 1), dueAt("a", 3), dueAt("b", 2), dueAt("d", 2)]);

    expect(await test.claimKeys({ limit: 3 })).toEqual(["c", "b", "d"]);
    expect(await test.claimKeys({ limit: 0 })).toEqual([]);
    expect(await test.claimKeys()).toEqual(["a"]);
  });

  it("takes nothing before its time, and nothing that somebody has", async () => {
    await test.sync([dueAt("later", test.now + 1), "now"]);

    expect(await test.claimKeys()).toEqual(["now"]);
    expect(await test.claimKeys({ owner: "another" })).toEqual([]);
    test.clock.advance(1);
    expect(await test.claimKeys()).toEqual(["later"]);
  });

  it("takes what an owner has left behind, as soon as its lease has run out", async () => {
    const lost = await test.start();
    test.clock.advance(LEASE_MS - 1);
    expect(await test.claimKeys()).toEqual([]);
    test.clock.advance(1);

    const taken = await test.claimOne({ owner: "another" });
    expect(taken).toMatchObject({ revision: lost.revision + 1, leaseOwner: "another", attempts: 2, status: "leased" });
    expect(await test.change(lost, "checkpoint", { cursor: '"old"' })).toMatchObject({ result: "stale" });
    expect(await test.get()).toEqual(taken);
  });

  it("takes only what was due by a time, where one is given", async () => {
    await test.sync([dueAt("a", 5), dueAt("b", 6)]);

    expect(await test.claimKeys({ dueBy: 5 })).toEqual(["a"]);
    expect(await test.claimKeys({ dueBy: test.now + 1000 })).toEqual(["b"]);
  });

  it("gives each subject to one of many who claim at once", async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `s${String(index).padStart(3, "0")}`);
    await test.sync(keys);
    const claims = await Promise.all(keys.map((_, index) => test.claimKeys({ limit: 2, owner: `owner ${index}` })));

    for (const claimed of claims) expect(claimed.length).toBeLessThanOrEqual(2);
    expect(claims.flat().sort()).toEqual(keys);
  });

  it("says when the next one is due", async () => {
    expect(await test.nextWake()).toBeNull();
    await test.sync([dueAt("a", test.now + 70), dueAt("b", test.now + 50)]);
    expect(await test.nextWake()).toBe(50);
    test.clock.advance(55);
    expect(await test.nextWake()).toBe(-5);
    const owner = await test.claimOne();
    expect(await test.nextWake()).toBe(15);
    await test.claim({ dueBy: 0 });
    test.clock.advance(15);
    await test.changed(await test.claimOne(), "complete");
    expect(await test.nextWake()).toBe(LEASE_MS - 15);
    await test.changed(owner, "complete");
    expect(await test.nextWake()).toBeNull();
  });

  it("has the time of the database", async () => {
    expect(await test.statements.time()).toBe(test.now);
  });

  describe("in turns", () => {
    const many = (group: string, count: number, since: number): SubjectSync[] =>
      Array.from({ length: count }, (_, index) =>
        test.discovered(`${group}-${String(index).padStart(6, "0")}`, { group, dueAt: since + index }),
      );
    const fair = (limit: number, after = "", groups = 100) => ({ limit, after, groups });
    const groupsOf = (keys: readonly string[]) => {
      const counts: Record<string, number> = {};
      for (const key of keys) counts[key.split("-")[0] as string] = (counts[key.split("-")[0] as string] ?? 0) + 1;
      return counts;
    };

    it("takes the same number of every group, and then the oldest", async () => {
      await test.sync([...many("flood", 50, 1), ...many("small", 1, 9000), ...many("quiet", 5, 8000)]);

      const { subjects, lastGroup } = await test.claim({ limit: 10, fair: fair(6) });
      expect(groupsOf(subjects.map(({ subjectKey }) => subjectKey))).toEqual({ flood: 7, quiet: 2, small: 1 });
      expect(subjects[0]).toMatchObject({ subjectKey: "flood-000000" });
      expect(lastGroup).toBe("small");
    });

    it("goes on with the group after the last one, round and round", async () => {
      await test.sync(["a", "b", "c", "d"].flatMap((group) => many(group, 3, 1)));
      const first = await test.claim({ limit: 3, fair: fair(3) });
      const second = await test.claim({ limit: 3, fair: fair(3, first.lastGroup ?? "") });

      expect(groupsOf(first.subjects.map(({ subjectKey }) => subjectKey))).toEqual({ a: 1, b: 1, c: 1 });
      expect(groupsOf(second.subjects.map(({ subjectKey }) => subjectKey))).toEqual({ a: 1, b: 1, d: 1 });
    });

    it("looks at so many groups at most, and goes on from there", async () => {
      const asleep = ["a", "b", "c"].flatMap((group) => many(group, 1, test.now + 1000));
      await test.sync([...asleep, ...many("d", 2, 5), test.discovered("alone", { dueAt: 1 })]);
      const first = await test.claim({ limit: 2, fair: fair(1, "", 2) });

      expect(first.subjects.map(({ subjectKey }) => subjectKey)).toEqual(["alone", "d-000000"]);
      expect(first.lastGroup).toBe("b");
    });

    it("leaves out groups that have nothing due, and takes subjects without one by age", async () => {
      await test.sync([
        ...many("late", 2, test.now + 1000),
        ...many("due", 1, 5),
        test.discovered("alone", { dueAt: 1 }),
      ]);

      expect(await test.claimKeys({ fair: fair(5) })).toEqual(["alone", "due-000000"]);
      expect(await test.claim({ fair: fair(5) })).toEqual({ subjects: [], lastGroup: null });
    });

    it("takes what a lost owner of a group has left behind", async () => {
      await test.sync(many("a", 1, 1));
      await test.claimOne({ fair: fair(1) });
      test.clock.advance(LEASE_MS);

      expect(await test.claimOne({ fair: fair(1), owner: "another" })).toMatchObject({ leaseOwner: "another" });
    });
  });
});
