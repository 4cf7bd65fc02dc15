import { describe, expect, test } from "vitest";
import type { SubjectSync } from "../../src/store/subjects/subject-records.ts";
import { DRIVERS } from "../support/engines.ts";
import { LEASE_MS, useSubjects } from "../support/use-subjects.ts";

describe.each(DRIVERS)("a claim of subjects on $name", (engine) => {
  const fixture = useSubjects(engine);
  const dueAt = (subjectKey: string, time: number) => fixture.discovered(subjectKey, { dueAt: time });

  test("gives the lease and the new revision", async () => {
    await fixture.sync([fixture.discovered("a", { cursor: '"c"', dueAt: 7 })]);

    expect(await fixture.claimOne({ owner: "process 1" })).toMatchObject({
      status: "leased",
      revision: 2,
      attempts: 1,
      leaseOwner: "process 1",
      leaseExpiresAt: fixture.now + LEASE_MS,
      cursor: '"c"',
      dueAt: 7,
    });
  });

  test("takes the oldest due first, no more than it was asked for", async () => {
    await fixture.sync([dueAt("c", 1), dueAt("a", 3), dueAt("b", 2), dueAt("d", 2)]);

    expect(await fixture.claimKeys({ limit: 3 })).toEqual(["c", "b", "d"]);
    expect(await fixture.claimKeys({ limit: 0 })).toEqual([]);
    expect(await fixture.claimKeys()).toEqual(["a"]);
  });

  test("takes nothing before its time, and nothing that has an owner", async () => {
    await fixture.sync([dueAt("later", fixture.now + 1), "now"]);

    expect(await fixture.claimKeys()).toEqual(["now"]);
    expect(await fixture.claimKeys({ owner: "another" })).toEqual([]);
    fixture.clock.advance(1);
    expect(await fixture.claimKeys()).toEqual(["later"]);
  });

  test("takes what an owner has left behind, as soon as its lease has run out", async () => {
    const lost = await fixture.start();
    fixture.clock.advance(LEASE_MS - 1);
    expect(await fixture.claimKeys()).toEqual([]);
    fixture.clock.advance(1);

    const taken = await fixture.claimOne({ owner: "another" });
    expect(taken).toMatchObject({ revision: lost.revision + 1, leaseOwner: "another", attempts: 2, status: "leased" });
    expect(await fixture.change(lost, "checkpoint", { cursor: '"old"' })).toMatchObject({ result: "stale" });
    expect(await fixture.get()).toEqual(taken);
  });

  test("takes only what was due by a time, where one is given", async () => {
    await fixture.sync([dueAt("a", 5), dueAt("b", 6)]);

    expect(await fixture.claimKeys({ dueBy: 5 })).toEqual(["a"]);
    expect(await fixture.claimKeys({ dueBy: fixture.now + 1000 })).toEqual(["b"]);
  });

  test("gives each subject to one of many workers that claim at once", async () => {
    const keys = Array.from({ length: 60 }, (_, index) => `s${String(index).padStart(3, "0")}`);
    await fixture.sync(keys);
    const claims = await Promise.all(keys.map((_, index) => fixture.claimKeys({ limit: 2, owner: `owner ${index}` })));

    for (const claimed of claims) expect(claimed.length).toBeLessThanOrEqual(2);
    expect(claims.flat().sort()).toEqual(keys);
  });

  test("says when the next one is due", async () => {
    expect(await fixture.nextWake()).toBeNull();
    await fixture.sync([dueAt("a", fixture.now + 70), dueAt("b", fixture.now + 50)]);
    expect(await fixture.nextWake()).toBe(50);
    fixture.clock.advance(55);
    expect(await fixture.nextWake()).toBe(-5);
    const owner = await fixture.claimOne();
    expect(await fixture.nextWake()).toBe(15);
    await fixture.claim({ dueBy: 0 });
    fixture.clock.advance(15);
    await fixture.changed(await fixture.claimOne(), "complete");
    expect(await fixture.nextWake()).toBe(LEASE_MS - 15);
    await fixture.changed(owner, "complete");
    expect(await fixture.nextWake()).toBeNull();
  });

  test("has the time of the database", async () => {
    expect(await fixture.statements.time()).toBe(fixture.now);
  });

  describe("in turns", () => {
    const many = (group: string, count: number, since: number): SubjectSync[] =>
      Array.from({ length: count }, (_, index) =>
        fixture.discovered(`${group}-${String(index).padStart(6, "0")}`, { group, dueAt: since + index }),
      );
    const fair = (limit: number, after = "", groups = 100) => ({ limit, after, groups });
    const groupsOf = (keys: readonly string[]) => {
      const counts: Record<string, number> = {};
      for (const key of keys) counts[key.split("-")[0] as string] = (counts[key.split("-")[0] as string] ?? 0) + 1;
      return counts;
    };

    test("takes the same number of every group, and then the oldest", async () => {
      await fixture.sync([...many("flood", 50, 1), ...many("small", 1, 9000), ...many("quiet", 5, 8000)]);

      const { subjects, lastGroup } = await fixture.claim({ limit: 10, fair: fair(6) });
      expect(groupsOf(subjects.map(({ subjectKey }) => subjectKey))).toEqual({ flood: 7, quiet: 2, small: 1 });
      expect(subjects[0]).toMatchObject({ subjectKey: "flood-000000" });
      expect(lastGroup).toBe("small");
    });

    test("continues with the group after the last one, round and round", async () => {
      await fixture.sync(["a", "b", "c", "d"].flatMap((group) => many(group, 3, 1)));
      const first = await fixture.claim({ limit: 3, fair: fair(3) });
      const second = await fixture.claim({ limit: 3, fair: fair(3, first.lastGroup ?? "") });

      expect(groupsOf(first.subjects.map(({ subjectKey }) => subjectKey))).toEqual({ a: 1, b: 1, c: 1 });
      expect(groupsOf(second.subjects.map(({ subjectKey }) => subjectKey))).toEqual({ a: 1, b: 1, d: 1 });
    });

    test("looks at so many groups at most, and continues from there", async () => {
      const asleep = ["a", "b", "c"].flatMap((group) => many(group, 1, fixture.now + 1000));
      await fixture.sync([...asleep, ...many("d", 2, 5), fixture.discovered("alone", { dueAt: 1 })]);
      const first = await fixture.claim({ limit: 2, fair: fair(1, "", 2) });

      expect(first.subjects.map(({ subjectKey }) => subjectKey)).toEqual(["alone", "d-000000"]);
      expect(first.lastGroup).toBe("b");
    });

    test("leaves out groups that have nothing due, and takes subjects without one by age", async () => {
      await fixture.sync([
        ...many("late", 2, fixture.now + 1000),
        ...many("due", 1, 5),
        fixture.discovered("alone", { dueAt: 1 }),
      ]);

      expect(await fixture.claimKeys({ fair: fair(5) })).toEqual(["alone", "due-000000"]);
      expect(await fixture.claim({ fair: fair(5) })).toEqual({ subjects: [], lastGroup: null });
    });

    test("takes what a lost owner of a group has left behind", async () => {
      await fixture.sync(many("a", 1, 1));
      await fixture.claimOne({ fair: fair(1) });
      fixture.clock.advance(LEASE_MS);

      expect(await fixture.claimOne({ fair: fair(1), owner: "another" })).toMatchObject({ leaseOwner: "another" });
    });
  });
});
