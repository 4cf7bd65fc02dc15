import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSubjectDispatcher, RevisionConflictError, type SubjectDispatcher } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

const LEASE_MS = 60_000;

interface Cursor {
  readonly page: number;
  readonly seen?: Date;
}

describe.each([...ENGINES, ENCRYPTED_SQLITE])("a subject dispatcher on $name", (engine) => {
  const fixture = useDispatcher(engine);
  const create = (options = {}) => fixture.create<Cursor, { id: string }>(options);

  async function claimOne(dispatcher: SubjectDispatcher<Cursor, { id: string }>) {
    const [claimed, ...others] = await dispatcher.claimDueSubjects({ limit: 10, leaseMs: LEASE_MS });
    if (claimed === undefined || others.length > 0) throw new Error("Expected one subject.");
    return claimed;
  }

  test("takes a subject from its discovery to its completion", async () => {
    const dispatcher = create();
    const now = fixture.clock.now();
    const seen = new Date(5);
    const subjects = [{ subjectKey: "warehouse:1", cursor: { page: 1, seen }, meta: { id: "1" } }];
    expect(await dispatcher.syncSubjects({ subjects })).toEqual({ created: 1, refreshed: 0, retired: 0 });

    const claimed = await claimOne(dispatcher);
    expect(claimed).toEqual({
      profile: dispatcher.profile,
      dispatcherId: "inventory",
      subjectKey: "warehouse:1",
      group: null,
      status: "leased",
      revision: 2,
      cursor: { page: 1, seen },
      meta: { id: "1" },
      nextDueAt: new Date(now),
      leaseOwner: expect.stringMatching(new RegExp(`^[0-9a-z]+~${process.pid}~`)),
      leaseExpiresAt: new Date(now + LEASE_MS),
      attempts: 1,
      consecutiveFailures: 0,
      consecutiveTimeouts: 0,
      lastError: null,
      lastStartedAt: new Date(now),
      lastSuccessAt: null,
      lastFailureAt: null,
      createdAt: new Date(now),
      updatedAt: new Date(now),
    });

    fixture.clock.advance(1000);
    const { subjectKey } = claimed;
    const running = await dispatcher.checkpointSubject({
      subjectKey,
      revision: claimed.revision,
      cursor: { page: 2 },
      leaseMs: LEASE_MS,
    });
    expect(running).toMatchObject({
      status: "running",
      cursor: { page: 2 },
      meta: { id: "1" },
      leaseExpiresAt: new Date(now + 1000 + LEASE_MS),
    });
    const nextDueAt = new Date(now + 900_000);
    const done = await dispatcher.completeSubject({ subjectKey, revision: running.revision, nextDueAt });
    expect(done).toMatchObject({ status: "idle", nextDueAt, attempts: 0, lastSuccessAt: new Date(now + 1000) });
    expect(await dispatcher.claimDueSubjects({ limit: 10, leaseMs: LEASE_MS })).toEqual([]);
    expect(await dispatcher.getSubject(subjectKey)).toEqual(done);
    expect(await dispatcher.getSubject("warehouse:2")).toBeNull();
  });

  test("refuses a stale revision with the current state, and changes nothing", async () => {
    const dispatcher = create();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] });
    const { subjectKey, revision } = await claimOne(dispatcher);
    const current = await dispatcher.checkpointSubject({ subjectKey, revision, cursor: { page: 9 } });

    const stale = [
      () => dispatcher.checkpointSubject({ subjectKey, revision, cursor: { page: 1 } }),
      () => dispatcher.completeSubject({ subjectKey, revision }),
      () => dispatcher.failSubject({ subjectKey, revision, error: "no" }),
      () => dispatcher.failSubject({ subjectKey, revision, error: "no", retryAfterMs: 5 }),
      () => dispatcher.releaseSubject({ subjectKey, revision }),
    ];
    for (const change of stale) {
      const error = await change().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(RevisionConflictError);
      expect(error).toMatchObject({ code: "subject.revision_conflict", current });
    }
    expect(await dispatcher.getSubject("a")).toEqual(current);
  });

  test("refuses changes of subjects that are gone, or that have no owner", async () => {
    const dispatcher = create();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] });

    await expect(dispatcher.completeSubject({ subjectKey: "b", revision: 1 })).rejects.toMatchObject({
      code: "subject.not_found",
    });
    await expect(dispatcher.failSubject({ subjectKey: "b", revision: 1, error: 1 })).rejects.toMatchObject({
      code: "subject.not_found",
    });
    for (const change of ["completeSubject", "checkpointSubject", "releaseSubject"] as const) {
      await expect(dispatcher[change]({ subjectKey: "a", revision: 1 })).rejects.toMatchObject({
        code: "subject.not_leased",
      });
    }
  });

  test.each([
    ["at a time", (now: number) => ({ nextDueAt: new Date(now + 5000) }), 5000, 5000],
    ["after a while", () => ({ retryAfterMs: 7000 }), 7000, 7000],
    ["by the schedule", () => ({}), 0, 30_000],
  ])("tries a failed subject again %s", async (_, hint, least, most) => {
    const dispatcher = create();
    const now = fixture.clock.now();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] });
    const { subjectKey, revision } = await claimOne(dispatcher);
    const error = { code: "upstream_timeout", message: "it timed out" };
    const failed = await dispatcher.failSubject({ subjectKey, revision, error, ...hint(now) });

    expect(failed).toMatchObject({ status: "failed", attempts: 1, consecutiveFailures: 1, lastError: error });
    expect(failed.lastFailureAt).toEqual(new Date(now));
    const wait = (failed.nextDueAt?.getTime() ?? 0) - now;
    expect(wait).toBeGreaterThanOrEqual(least);
    expect(wait).toBeLessThanOrEqual(most);
    fixture.clock.advance(most);
    const again = await claimOne(dispatcher);
    expect(again).toMatchObject({ attempts: 2, consecutiveFailures: 1 });
    expect(await dispatcher.completeSubject({ subjectKey, revision: again.revision })).toMatchObject({
      consecutiveFailures: 0,
      lastError: null,
    });
  });

  test("waits longer after each failure, up to a cap, as its dispatcher's options say", async () => {
    const dispatcher = create({ retries: { delay: "1 second", backoff: "linear", maxDelay: "3 seconds" } });
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] });
    const waits: number[] = [];
    for (let count = 0; count < 4; count++) {
      const { subjectKey, revision } = await claimOne(dispatcher);
      const failed = await dispatcher.failSubject({ subjectKey, revision, error: new Error("no") });
      waits.push((failed.nextDueAt?.getTime() ?? 0) - fixture.clock.now());
      expect(failed.lastError).toBeInstanceOf(Error);
      fixture.clock.advance(3000);
    }
    expect(waits).toEqual([1000, 2000, 3000, 3000]);
  });

  test("counts a release as neither success nor failure", async () => {
    const dispatcher = create();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a", cursor: { page: 1 } }] });
    const before = await dispatcher.getSubject("a");
    const claimed = await claimOne(dispatcher);

    expect(await dispatcher.releaseSubject({ subjectKey: "a", revision: claimed.revision })).toEqual({
      ...before,
      revision: 3,
      lastStartedAt: claimed.lastStartedAt,
    });
    expect(await claimOne(dispatcher)).toMatchObject({ subjectKey: "a", attempts: 1 });
  });

  test("continues from the last checkpoint of an owner that was killed, though each script syncs before it claims", async () => {
    const script = async () => {
      const dispatcher = create();
      await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a", cursor: { page: 1 }, meta: { id: "1" } }] });
      return { dispatcher, claimed: await claimOne(dispatcher) };
    };
    const first = await script();
    const { subjectKey, revision } = first.claimed;
    await first.dispatcher.checkpointSubject({ subjectKey, revision, cursor: { page: 7 }, meta: { id: "1, seen" } });
    fixture.clock.advance(LEASE_MS); // it was killed, and says nothing any more

    const second = await script();
    expect(second.claimed).toMatchObject({ cursor: { page: 7 }, meta: { id: "1, seen" }, attempts: 2 });
  });

  test("retires what isn't discovered any more only if it is asked to", async () => {
    const dispatcher = create();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }, { subjectKey: "b" }] });
    expect(await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] })).toMatchObject({ retired: 0 });
    expect(await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }], retire: true })).toMatchObject({
      retired: 1,
    });

    expect(await dispatcher.getSubject("b")).toMatchObject({ status: "retired", nextDueAt: null });
    expect((await dispatcher.listSubjects({ status: "retired" })).subjects).toHaveLength(1);
    expect(await claimOne(dispatcher)).toMatchObject({ subjectKey: "a" });
  });

  test("stores what its schemas make of cursors and metas, and refuses what they don't accept", async () => {
    const cursor = z.object({ page: z.number().default(1) });
    const meta = z.object({ id: z.string() });
    const dispatcher = fixture.create<{ page: number }, { id: string }>({ cursor, meta });
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a", cursor: {} as { page: number } }] });
    expect(await dispatcher.getSubject("a")).toMatchObject({ cursor: { page: 1 }, meta: null });

    const bad = { subjectKey: "b", meta: { id: 5 } as unknown as { id: string } };
    await expect(dispatcher.syncSubjects({ subjects: [{ subjectKey: "c" }, bad] })).rejects.toMatchObject({
      code: "subject.invalid",
    });
    expect(await dispatcher.getSubject("c")).toBeNull();
  });

  test("stores nothing of thousands of subjects if the last isn't accepted", async () => {
    const dispatcher = create();
    const subjects = Array.from({ length: 6001 }, (_, index) => ({ subjectKey: `s${index % 6000}` }));
    await expect(dispatcher.syncSubjects({ subjects })).rejects.toMatchObject({ code: "subject.invalid" });

    expect((await dispatcher.listSubjects()).subjects).toEqual([]);
    expect(await dispatcher.syncSubjects({ subjects: subjects.slice(1) })).toMatchObject({ created: 6000 });
  });

  test("lists page by page", async () => {
    const dispatcher = create();
    await dispatcher.syncSubjects({ subjects: ["c", "a", "b"].map((subjectKey) => ({ subjectKey, group: "g" })) });
    const first = await dispatcher.listSubjects({ limit: 2 });
    const second = await dispatcher.listSubjects({ limit: 2, cursor: first.nextCursor ?? "" });

    expect(first.subjects.map(({ subjectKey }) => subjectKey)).toEqual(["a", "b"]);
    expect(second.subjects.map(({ subjectKey }) => subjectKey)).toEqual(["c"]);
    expect(second.nextCursor).toBeNull();
    expect((await dispatcher.listSubjects({ group: "other" })).subjects).toEqual([]);
  });

  test("shares subjects only with other dispatchers of its profile and id", async () => {
    const dispatcher = create();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] });
    const same = create();
    const other = create({ profile: `${dispatcher.profile}-2` });

    expect(await other.getSubject("a")).toBeNull();
    expect(await other.claimDueSubjects({ limit: 1, leaseMs: LEASE_MS })).toEqual([]);
    expect(await claimOne(same)).toMatchObject({ subjectKey: "a" });
  });

  test("opens a database by its name, migrates it, and closes it", async () => {
    const { location } = fixture.database;
    const options = { database: location, profile: "by name", dispatcherId: "inventory" };
    const first = createSubjectDispatcher(options);
    await first.syncSubjects({ subjects: [{ subjectKey: "a" }] });
    await first.close();
    await expect(first.getSubject("a")).rejects.toMatchObject({ code: "store.closed" });

    await using second = createSubjectDispatcher(options);
    expect(await second.getSubject("a")).toMatchObject({ subjectKey: "a" });
  });

  test.each<[string, (dispatcher: SubjectDispatcher) => Promise<unknown>]>([
    ["both hints", (one) => one.failSubject({ ...A, error: 1, nextDueAt: new Date(), retryAfterMs: 1 })],
    ["a time that is none", (one) => one.completeSubject({ ...A, nextDueAt: new Date(Number.NaN) })],
    ["a negative delay", (one) => one.failSubject({ ...A, error: 1, retryAfterMs: -1 })],
    ["a revision that is none", (one) => one.releaseSubject({ subjectKey: "a", revision: 0 })],
    ["no revision", (one) => one.releaseSubject({ subjectKey: "a" } as never)],
    ["an unknown option", (one) => one.completeSubject({ ...A, next_due_at: 1 } as never)],
    ["a limit of nothing", (one) => one.claimDueSubjects({ limit: 0, leaseMs: 1000 })],
    ["a lease of nothing", (one) => one.claimDueSubjects({ limit: 1, leaseMs: 0 })],
    ["subjects that are none", (one) => one.syncSubjects({ subjects: "a" as never })],
    [
      "a subject that appears twice",
      (one) => one.syncSubjects({ subjects: [{ subjectKey: "z" }, { subjectKey: "z" }] }),
    ],
    ["an unknown field", (one) => one.syncSubjects({ subjects: [{ subjectKey: "z", page: 1 } as never] })],
    ["an unknown status", (one) => one.listSubjects({ status: "gone" as never })],
  ])("refuses %s", async (_, call) => {
    const dispatcher = fixture.create();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] });
    const before = await dispatcher.listSubjects();

    await expect(call(dispatcher)).rejects.toMatchObject({ code: "subject.invalid" });
    expect(await dispatcher.listSubjects()).toEqual(before);
  });
});

const A = { subjectKey: "a", revision: 1 };
