import { describe, expect, test } from "vitest";
import type { SubjectChangeKind } from "../../src/store/subjects/subject-records.ts";
import { DRIVERS, ENCRYPTED_SQLITE } from "../support/engines.ts";
import { LEASE_MS, useSubjects } from "../support/use-subjects.ts";

const KINDS: SubjectChangeKind[] = ["checkpoint", "complete", "fail", "release"];

describe.each([...DRIVERS, ENCRYPTED_SQLITE])("a change of a subject on $name", (engine) => {
  const fixture = useSubjects(engine);

  test("checkpoints: progress is kept, and the lease may be extended", async () => {
    const claimed = await fixture.start("a", { meta: '"m"' });
    fixture.clock.advance(1000);
    const running = await fixture.changed(claimed, "checkpoint", { cursor: '{"page":2}' });
    expect(running).toEqual({
      ...claimed,
      status: "running",
      cursor: '{"page":2}',
      revision: claimed.revision + 1,
      updatedAt: fixture.now,
    });

    const extended = await fixture.changed(running, "checkpoint", { leaseMs: 60_000, meta: '"n"' });
    expect(extended).toMatchObject({ leaseExpiresAt: fixture.now + 60_000, cursor: '{"page":2}', meta: '"n"' });
    fixture.clock.advance(LEASE_MS);
    expect(await fixture.claimKeys()).toEqual([]);
  });

  test("completes: due at a time, after a while, or when it is discovered again", async () => {
    const first = await fixture.changed(await fixture.start(), "fail", { error: '"no"', dueAt: 1 });
    expect(first).toMatchObject({
      status: "failed",
      failures: 1,
      attempts: 1,
      error: '"no"',
      lastFailureAt: fixture.now,
    });

    const done = await fixture.changed(await fixture.claimOne(), "complete", {
      dueAt: fixture.now + 5,
      cursor: '"end"',
    });
    expect(done).toMatchObject({
      status: "idle",
      dueAt: fixture.now + 5,
      cursor: '"end"',
      attempts: 0,
      failures: 0,
      error: null,
      lastSuccessAt: fixture.now,
      lastFailureAt: fixture.now,
      leaseOwner: null,
      leaseExpiresAt: null,
    });
    fixture.clock.advance(5);
    const later = await fixture.changed(await fixture.claimOne(), "complete", { delayMs: 7 });
    expect(later.dueAt).toBe(fixture.now + 7);
    fixture.clock.advance(7);
    const resting = await fixture.changed(await fixture.claimOne(), "complete");
    expect(resting).toMatchObject({ status: "idle", dueAt: null });
    fixture.clock.advance(1_000_000_000);
    expect(await fixture.claimKeys()).toEqual([]);
  });

  test("fails: counted, and due again after the delay", async () => {
    await fixture.changed(await fixture.start(), "fail", { error: '{"code":"x"}', delayMs: 100 });
    expect(await fixture.claimKeys()).toEqual([]);
    fixture.clock.advance(100);

    const again = await fixture.claimOne();
    expect(again).toMatchObject({ attempts: 2, failures: 1, error: '{"code":"x"}' });
    expect(await fixture.changed(again, "fail", { error: '"y"', delayMs: 1 })).toMatchObject({
      failures: 2,
      error: '"y"',
    });
  });

  test("releases: as if it had never been claimed, but for its revision and what was stored", async () => {
    await fixture.sync([fixture.discovered("a", { dueAt: 9 })]);
    const before = await fixture.get();
    const released = await fixture.changed(await fixture.claimOne(), "release");
    expect(released).toEqual({ ...before, revision: 3, lastStartedAt: fixture.now });
    expect(await fixture.claimKeys()).toEqual(["a"]);
  });

  test("releases one that had failed before as failed", async () => {
    await fixture.changed(await fixture.start(), "fail", { error: '"no"', dueAt: 1 });
    const released = await fixture.changed(await fixture.claimOne(), "release");
    expect(released).toMatchObject({ status: "failed", failures: 1, attempts: 1, lastSuccessAt: null, error: '"no"' });
  });

  describe.each(KINDS)("%s", (kind) => {
    test("is refused at any revision but the latest, and changes nothing", async () => {
      const claimed = await fixture.start();
      const latest = await fixture.changed(claimed, "checkpoint", { cursor: '"new"' });
      const attempt = { cursor: '"old"', error: '"e"', dueAt: 1, leaseMs: 1 };

      expect(await fixture.change(claimed, kind, attempt)).toEqual({ result: "stale", subject: latest });
      const future = { ...latest, revision: latest.revision + 1 };
      expect(await fixture.change(future, kind, attempt)).toEqual({ result: "stale", subject: latest });
      expect(await fixture.get()).toEqual(latest);
    });

    test("is refused if the subject has no owner", async () => {
      await fixture.sync(["a"]);
      const idle = await fixture.get();
      if (idle === null) throw new Error("Expected a subject.");

      expect(await fixture.change(idle, kind)).toEqual({ result: "inactive", subject: idle });
      expect(await fixture.get()).toEqual(idle);
    });

    test("needs a subject that is there", async () => {
      const claimed = await fixture.start();
      expect(await fixture.change({ ...claimed, subjectKey: "other" }, kind)).toEqual({ result: "missing" });
    });

    test("is known when it is sent again, also when others have gone on since", async () => {
      const claimed = await fixture.start();
      const change = fixture.changeOf(claimed, kind, { error: '"e"', dueAt: 1 });
      const [first] = await fixture.statements.change([change], { resent: false });
      const [again] = await fixture.statements.change([change], { resent: true });
      expect(first?.result).toBe("changed");
      expect(again).toEqual(first);
      expect(await fixture.get()).toMatchObject({ revision: claimed.revision + 1 });

      fixture.clock.advance(LEASE_MS);
      await fixture.claimOne({ owner: "another" });
      const [late] = await fixture.statements.change([change], { resent: true });
      expect(late).toMatchObject({ result: "changed", subject: { revision: claimed.revision + 1 } });
      expect(await fixture.change(claimed, "complete")).toMatchObject({ result: "stale" });
    });
  });

  test("is for each by itself, in the order of asking", async () => {
    await fixture.sync(["c", "a", "b"]);
    const { subjects } = await fixture.claim();
    const [a, b, c] = subjects;
    if (a === undefined || b === undefined || c === undefined) throw new Error("Expected three subjects.");
    const changes = [
      fixture.changeOf(c, "complete"),
      fixture.changeOf({ ...a, revision: 1 }, "complete"),
      fixture.changeOf({ ...a, subjectKey: "x" }, "fail", { error: "1" }),
      fixture.changeOf(b, "fail", { error: '"e"', delayMs: 5 }),
      fixture.changeOf(b, "complete"),
    ];

    const results = await fixture.statements.change(changes, { resent: false });
    const first = results.map(({ result }) => result);
    expect(first.slice(0, 3)).toEqual(["changed", "stale", "missing"]);
    expect(first.slice(3).sort()).toEqual(["changed", "stale"]);
  });

  test("of one of two owners at most succeeds, however they meet", async () => {
    const claimed = await fixture.start();
    const changes = Array.from({ length: 20 }, (_, index) =>
      fixture.change(claimed, KINDS[index % 4] as SubjectChangeKind, { error: '"e"', dueAt: 1 }),
    );
    const results = (await Promise.all(changes)).map(({ result }) => result);

    expect(results.filter((result) => result === "changed")).toHaveLength(1);
    expect(await fixture.get()).toMatchObject({ revision: claimed.revision + 1 });
  });

  test("renews leases at the revision of their owners only, and leaves the revision", async () => {
    await fixture.sync(["a", "b"]);
    const { subjects } = await fixture.claim();
    const [a, b] = subjects;
    if (a === undefined || b === undefined) throw new Error("Expected two subjects.");
    fixture.clock.advance(1000);

    expect(await fixture.statements.renew([b, { ...a, revision: 1 }], 5000)).toEqual([true, false]);
    expect(await fixture.get("b")).toMatchObject({ leaseExpiresAt: fixture.now + 5000, revision: b.revision });
    expect(await fixture.get("a")).toEqual(a);
    const done = await fixture.changed(b, "complete");
    expect(await fixture.statements.renew([done], 5000)).toEqual([false]);
  });

  test("lists pages by key, status and group", async () => {
    await fixture.sync([
      "c",
      "a",
      fixture.discovered("b", { group: "g" }),
      fixture.discovered("d", { dueAt: fixture.now + 9 }),
    ]);
    await fixture.claim({ limit: 1 });

    const keys = async (filter: Parameters<typeof fixture.list>[0]) =>
      (await fixture.list(filter)).map(({ subjectKey }) => subjectKey);
    expect(await keys({ limit: 3 })).toEqual(["a", "b", "c"]);
    expect(await keys({ after: "c" })).toEqual(["d"]);
    expect(await keys({ status: "leased" })).toEqual(["a"]);
    expect(await keys({ group: "g" })).toEqual(["b"]);
  });
});
