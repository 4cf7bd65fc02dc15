import { describe, expect, it } from "vitest";
import type { SubjectChangeKind } from "../../src/store/subject-records.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { LEASE_MS, useSubjects } from "../support/use-subjects.ts";

const KINDS: SubjectChangeKind[] = ["checkpoint", "complete", "fail", "release"];

describe.each([...ENGINES, ENCRYPTED_SQLITE])("a change of a subject on $name", (engine) => {
  const test = useSubjects(engine);

  it("checkpoints: progress is kept, and the lease may be extended", async () => {
    const claimed = await test.start("a", { meta: '"m"' });
    test.clock.advance(1000);
    const running = await test.changed(claimed, "checkpoint", { cursor: '{"page":2}' });
    expect(running).toEqual({
      ...claimed,
      status: "running",
      cursor: '{"page":2}',
      revision: claimed.revision + 1,
      updatedAt: test.now,
    });

    const extended = await test.changed(running, "checkpoint", { leaseMs: 60_000, meta: '"n"' });
    expect(extended).toMatchObject({ leaseExpiresAt: test.now + 60_000, cursor: '{"page":2}', meta: '"n"' });
    test.clock.advance(LEASE_MS);
    expect(await test.claimKeys()).toEqual([]);
  });

  it("completes: due at a time, after a while, or when it is discovered again", async () => {
    const first = await test.changed(await test.start(), "fail", { error: '"no"', dueAt: 1 });
    expect(first).toMatchObject({ status: "failed", failures: 1, attempts: 1, error: '"no"', lastFailureAt: test.now });

    const done = await test.changed(await test.claimOne(), "complete", { dueAt: test.now + 5, cursor: '"end"' });
    expect(done).toMatchObject({
      status: "idle",
      dueAt: test.now + 5,
      cursor: '"end"',
      attempts: 0,
      failures: 0,
      error: null,
      lastSuccessAt: test.now,
      lastFailureAt: test.now,
      leaseOwner: null,
      leaseExpiresAt: null,
    });
    test.clock.advance(5);
    const later = await test.changed(await test.claimOne(), "complete", { delayMs: 7 });
    expect(later.dueAt).toBe(test.now + 7);
    test.clock.advance(7);
    const resting = await test.changed(await test.claimOne(), "complete");
    expect(resting).toMatchObject({ status: "idle", dueAt: null });
    test.clock.advance(1_000_000_000);
    expect(await test.claimKeys()).toEqual([]);
  });

  it("fails: counted, and due again after the delay", async () => {
    await test.changed(await test.start(), "fail", { error: '{"code":"x"}', delayMs: 100 });
    expect(await test.claimKeys()).toEqual([]);
    test.clock.advance(100);

    const again = await test.claimOne();
    expect(again).toMatchObject({ attempts: 2, failures: 1, error: '{"code":"x"}' });
    expect(await test.changed(again, "fail", { error: '"y"', delayMs: 1 })).toMatchObject({
      failures: 2,
      error: '"y"',
    });
  });

  it("releases: as if it had never been claimed, but for its revision and what was stored", async () => {
    await test.sync([test.discovered("a", { dueAt: 9 })]);
    const before = await test.get();
    const released = await test.changed(await test.claimOne(), "release");
    expect(released).toEqual({ ...before, revision: 3, lastStartedAt: test.now });
    expect(await test.claimKeys()).toEqual(["a"]);
  });

  it("releases one that had failed before as failed", async () => {
    await test.changed(await test.start(), "fail", { error: '"no"', dueAt: 1 });
    const released = await test.changed(await test.claimOne(), "release");
    expect(released).toMatchObject({ status: "failed", failures: 1, attempts: 1, lastSuccessAt: null, error: '"no"' });
  });

  describe.each(KINDS)("%s", (kind) => {
    it("is refused at any revision but the latest, and changes nothing", async () => {
      const claimed = await test.start();
      const latest = await test.changed(claimed, "checkpoint", { cursor: '"new"' });
      const attempt = { cursor: '"old"', error: '"e"', dueAt: 1, leaseMs: 1 };

      expect(await test.change(claimed, kind, attempt)).toEqual({ result: "stale", subject: latest });
      const future = { ...latest, revision: latest.revision + 1 };
      expect(await test.change(future, kind, attempt)).toEqual({ result: "stale", subject: latest });
      expect(await test.get()).toEqual(latest);
    });

    it("is refused where nobody has claimed the subject", async () => {
      await test.sync(["a"]);
      const idle = await test.get();
      if (idle === null) throw new Error("Expected a subject.");

      expect(await test.change(idle, kind)).toEqual({ result: "inactive", subject: idle });
      expect(await test.get()).toEqual(idle);
    });

    it("needs a subject that is there", async () => {
      const claimed = await test.start();
      expect(await test.change({ ...claimed, subjectKey: "other" }, kind)).toEqual({ result: "missing" });
    });

    it("is known when it is sent again, also when others have gone on since", async () => {
      const claimed = await test.start();
      const change = test.changeOf(claimed, kind, { error: '"e"', dueAt: 1 });
      const [first] = await test.statements.change([change], { resent: false });
      const [again] = await test.statements.change([change], { resent: true });
      expect(first?.result).toBe("changed");
      expect(again).toEqual(first);
      expect(await test.get()).toMatchObject({ revision: claimed.revision + 1 });

      test.clock.advance(LEASE_MS);
      await test.claimOne({ owner: "another" });
      const [late] = await test.statements.change([change], { resent: true });
      expect(late).toMatchObject({ result: "changed", subject: { revision: claimed.revision + 1 } });
      expect(await test.change(claimed, "complete")).toMatchObject({ result: "stale" });
    });
  });

  it("is for each by itself, in the order of asking", async () => {
    await test.sync(["c", "a", "b"]);
    const { subjects } = await test.claim();
    const [a, b, c] = subjects;
    if (a === undefined || b === undefined || c === undefined) throw new Error("Expected three subjects.");
    const changes = [
      test.changeOf(c, "complete"),
      test.changeOf({ ...a, revision: 1 }, "complete"),
      test.changeOf({ ...a, subjectKey: "x" }, "fail", { error: "1" }),
      test.changeOf(b, "fail", { error: '"e"', delayMs: 5 }),
      test.changeOf(b, "complete"),
    ];

    const results = await test.statements.change(changes, { resent: false });
    const first = results.map(({ result }) => result);
    expect(first.slice(0, 3)).toEqual(["changed", "stale", "missing"]);
    expect(first.slice(3).sort()).toEqual(["changed", "stale"]);
  });

  it("of one of two owners at most succeeds, however they meet", async () => {
    const claimed = await test.start();
    const changes = Array.from({ length: 20 }, (_, index) =>
      test.change(claimed, KINDS[index % 4] as SubjectChangeKind, { error: '"e"', dueAt: 1 }),
    );
    const results = (await Promise.all(changes)).map(({ result }) => result);

    expect(results.filter((result) => result === "changed")).toHaveLength(1);
    expect(await test.get()).toMatchObject({ revision: claimed.revision + 1 });
  });

  it("renews leases at the revision of their owners only, and leaves the revision", async () => {
    await test.sync(["a", "b"]);
    const { subjects } = await test.claim();
    const [a, b] = subjects;
    if (a === undefined || b === undefined) throw new Error("Expected two subjects.");
    test.clock.advance(1000);

    expect(await test.statements.renew([b, { ...a, revision: 1 }], 5000)).toEqual([true, false]);
    expect(await test.get("b")).toMatchObject({ leaseExpiresAt: test.now + 5000, revision: b.revision });
    expect(await test.get("a")).toEqual(a);
    const done = await test.changed(b, "complete");
    expect(await test.statements.renew([done], 5000)).toEqual([false]);
  });

  it("lists pages by key, status and group", async () => {
    await test.sync(["c", "a", test.discovered("b", { group: "g" }), test.discovered("d", { dueAt: test.now + 9 })]);
    await test.claim({ limit: 1 });

    const keys = async (filter: Parameters<typeof test.list>[0]) =>
      (await test.list(filter)).map(({ subjectKey }) => subjectKey);
    expect(await keys({ limit: 3 })).toEqual(["a", "b", "c"]);
    expect(await keys({ after: "c" })).toEqual(["d"]);
    expect(await keys({ status: "leased" })).toEqual(["a"]);
    expect(await keys({ group: "g" })).toEqual(["b"]);
  });
});
