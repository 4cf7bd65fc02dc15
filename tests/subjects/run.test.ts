import { describe, expect, test, vi } from "vitest";
import { NonRetryableError, type RunReport, runSubjects, type SubjectProgress } from "../../src/index.ts";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { gate } from "./support/gate.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

interface Cursor {
  readonly page: number;
}

const NOTHING: RunReport = {
  discovered: 0,
  created: 0,
  refreshed: 0,
  retired: 0,
  claimed: 0,
  completed: 0,
  failed: 0,
  released: 0,
  lost: 0,
};

describe.each(ENGINES)("runSubjects on $name", (engine) => {
  const fixture = useDispatcher(engine);
  const create = () => fixture.create<Cursor, undefined>();
  const discover = (...keys: string[]) => ({
    discover: () => keys.map((subjectKey) => ({ subjectKey, cursor: { page: 1 } })),
  });

  test("discovers, and handles each subject, and ends", async () => {
    const dispatcher = create();
    const seen: string[] = [];
    const report = await dispatcher.runSubjects({
      ...discover("a", "b", "c"),
      limit: 2,
      concurrency: 1,
      handle: ({ subjectKey, cursor }) => {
        seen.push(`${subjectKey} ${cursor?.page}`);
      },
    });

    expect(seen).toEqual(["a 1", "b 1", "c 1"]);
    expect(report).toEqual({ ...NOTHING, discovered: 3, created: 3, claimed: 3, completed: 3 });
    expect((await dispatcher.listSubjects()).subjects.map(({ status, nextDueAt }) => [status, nextDueAt])).toEqual([
      ["idle", null],
      ["idle", null],
      ["idle", null],
    ]);
  });

  test("handles a subject again in the next run, from the cursor that it has by then", async () => {
    const dispatcher = create();
    const pages: unknown[] = [];
    const run = () =>
      dispatcher.runSubjects({
        ...discover("a"),
        handle: async ({ cursor }, { checkpoint }) => {
          pages.push(cursor?.page);
          await checkpoint({ page: (cursor?.page ?? 0) + 1 });
        },
      });
    expect(await run()).toMatchObject({ created: 1, completed: 1 });
    expect(await run()).toMatchObject({ created: 0, refreshed: 1, completed: 1 });
    expect(pages).toEqual([1, 2]);
  });

  test("lets completed subjects rest for as long as its options or their handlers say", async () => {
    const dispatcher = create();
    const at = new Date(fixture.clock.now() + 5000);
    const handle = ({ subjectKey }: { subjectKey: string }) =>
      subjectKey === "b" ? { nextDueAt: at, cursor: { page: 7 } } : undefined;
    await dispatcher.runSubjects({ ...discover("a", "b"), every: "15 minutes", handle });

    expect((await dispatcher.getSubject("a"))?.nextDueAt).toEqual(new Date(fixture.clock.now() + 900_000));
    expect(await dispatcher.getSubject("b")).toMatchObject({ nextDueAt: at, cursor: { page: 7 } });
    expect(await dispatcher.runSubjects({ ...discover("a", "b"), handle })).toMatchObject({ claimed: 0 });
  });

  test("fails one subject without affecting the others, and continues from its checkpoint", async () => {
    const dispatcher = create();
    const events: string[] = [];
    const handle = async (
      { subjectKey, cursor }: { subjectKey: string; cursor: Cursor | null },
      context: {
        checkpoint(cursor: Cursor): Promise<void>;
      },
    ) => {
      if (subjectKey !== "bad" || cursor?.page === 5) return;
      await context.checkpoint({ page: 5 });
      throw Object.assign(new Error("the API is down"), { retryAfter: "1 minute" });
    };
    const onProgress = ({ event, subject }: SubjectProgress<Cursor, undefined>) => {
      events.push(`${event} ${subject.subjectKey}`);
    };
    const report = await dispatcher.runSubjects({ ...discover("a", "bad", "c"), concurrency: 1, handle, onProgress });

    expect(report).toMatchObject({ claimed: 3, completed: 2, failed: 1 });
    expect(events).toEqual([
      "claimed a",
      "completed a",
      "claimed bad",
      "checkpointed bad",
      "failed bad",
      "claimed c",
      "completed c",
    ]);
    const failed = await dispatcher.getSubject("bad");
    expect(failed).toMatchObject({ status: "failed", cursor: { page: 5 }, consecutiveFailures: 1 });
    expect(failed?.lastError).toMatchObject({ message: "the API is down" });
    expect(failed?.nextDueAt).toEqual(new Date(fixture.clock.now() + 60_000));
    fixture.clock.advance(60_000);
    expect(await dispatcher.runSubjects({ ...discover("bad"), handle })).toMatchObject({ completed: 1, failed: 0 });
  });

  test("tries what can't succeed as seldom as the schedule allows", async () => {
    const dispatcher = create();
    await dispatcher.runSubjects({
      ...discover("a"),
      handle: () => {
        throw new NonRetryableError("gone");
      },
    });
    expect((await dispatcher.getSubject("a"))?.nextDueAt).toEqual(new Date(fixture.clock.now() + 3_600_000));
  });

  test("holds back no other subject for a slow one", async () => {
    const dispatcher = create();
    const slow = gate();
    const done: string[] = [];
    const running = dispatcher.runSubjects({
      ...discover("a", "b", "c", "d", "slow"),
      concurrency: 2,
      handle: async ({ subjectKey }) => {
        if (subjectKey === "a") await slow.opened;
        done.push(subjectKey);
      },
    });
    await waitUntil("the others are done", () => done.length === 4);
    expect(done).not.toContain("a");
    slow.open();
    expect(await running).toMatchObject({ completed: 5 });
  });

  test("never has more at work than it may", async () => {
    const dispatcher = create();
    let [now, most] = [0, 0];
    const keys = Array.from({ length: 12 }, (_, index) => `s${index}`);
    await dispatcher.runSubjects({
      ...discover(...keys),
      limit: 5,
      concurrency: 3,
      handle: async () => {
        most = Math.max(most, ++now);
        await settle();
        now--;
      },
    });
    expect(most).toBe(3);
  });

  test("renews the lease of a subject for as long as it is handled", async () => {
    const dispatcher = create();
    const work = gate();
    const begun = gate();
    const running = dispatcher.runSubjects({
      ...discover("a"),
      leaseMs: 6000,
      handle: async () => {
        begun.open();
        await work.opened;
      },
    });
    await begun.opened;
    for (let second = 0; second < 20; second++) {
      const due = new Date(fixture.clock.now() + 1000 + 2001);
      fixture.clock.advance(1000);
      await waitUntil(
        "the lease is renewed",
        async () => ((await dispatcher.getSubject("a"))?.leaseExpiresAt ?? due) >= due,
      );
      expect(await dispatcher.claimDueSubjects({ limit: 1, leaseMs: 1000 })).toEqual([]);
    }
    work.open();
    expect(await running).toMatchObject({ completed: 1, lost: 0 });
  });

  test("tells a handler that its subject has another owner, and writes nothing of it", async () => {
    const dispatcher = create();
    const begun = gate();
    const taken = gate();
    let aborted = false;
    const running = dispatcher.runSubjects({
      ...discover("a"),
      handle: async (_, { checkpoint, signal }) => {
        begun.open();
        await taken.opened;
        const error: unknown = await checkpoint({ page: 9 }).catch((reason: unknown) => reason);
        aborted = signal.aborted;
        throw error;
      },
    });
    await begun.opened;
    // Its lease has run out unnoticed, as when a process stands still.
    fixture.clock.set(fixture.clock.now() + 30_000);
    const [claimed] = await dispatcher.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
    taken.open();

    expect(await running).toMatchObject({ completed: 0, failed: 0, lost: 1 });
    expect(aborted).toBe(true);
    expect(await dispatcher.getSubject("a")).toEqual(claimed);
  });

  test("gives back what throws when it is told to stop, uncounted, and keeps what is done", async () => {
    const dispatcher = create();
    const controller = new AbortController();
    const begun = gate();
    const running = dispatcher.runSubjects({
      ...discover("a", "b", "c"),
      concurrency: 2,
      signal: controller.signal,
      handle: async ({ subjectKey }, { signal }) => {
        if (subjectKey === "b") begun.open();
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        if (subjectKey === "a") throw new Error("interrupted");
      },
    });
    await begun.opened;
    controller.abort();

    expect(await running).toMatchObject({ claimed: 2, completed: 1, released: 1, failed: 0 });
    expect(await dispatcher.getSubject("a")).toMatchObject({ status: "idle", attempts: 0, consecutiveFailures: 0 });
    expect(await dispatcher.getSubject("c")).toMatchObject({ revision: 1 });
    const late = { ...discover("d"), handle: () => {}, signal: controller.signal };
    expect(await dispatcher.runSubjects(late)).toEqual(NOTHING);
  });

  test("gives back what it claims at the moment at which it is told to stop", async () => {
    const dispatcher = create();
    const controller = new AbortController();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a" }] });
    const before = await dispatcher.getSubject("a");
    const { subjects } = fixture.database.store.engine;
    const claim = subjects.claim.bind(subjects);
    vi.spyOn(subjects, "claim").mockImplementationOnce(async (request) => {
      const claimed = await claim(request);
      controller.abort();
      return claimed;
    });
    const report = await dispatcher.runSubjects({ handle: () => {}, signal: controller.signal });

    expect(report).toMatchObject({ claimed: 1, completed: 0, released: 1 });
    expect(await dispatcher.getSubject("a")).toMatchObject({
      ...before,
      revision: 3,
      lastStartedAt: expect.anything(),
    });
  });

  test("leaves to the next run what becomes due while it runs", async () => {
    const dispatcher = create();
    let runs = 0;
    const report = await dispatcher.runSubjects({
      ...discover("a"),
      handle: () => {
        runs++;
        fixture.clock.advance(1);
        return { nextDueAt: fixture.clock.now() };
      },
    });
    expect(report).toMatchObject({ claimed: 1 });
    expect(runs).toBe(1);
    expect(await dispatcher.runSubjects({ handle: () => {} })).toMatchObject({ discovered: 0, completed: 1 });
  });

  test("takes subjects bit by bit from an async discoverer, and retires the rest if it is told to", async () => {
    const dispatcher = create();
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "old" }] });
    async function* found() {
      yield { subjectKey: "a" };
      await settle();
      yield { subjectKey: "b" };
    }
    const report = await dispatcher.runSubjects({ discover: found, retire: true, handle: () => {} });
    expect(report).toMatchObject({ discovered: 2, created: 2, retired: 1, completed: 2 });
  });

  test("is one call for a script", async () => {
    const { adapter } = fixture.database;
    const report = await runSubjects({
      database: adapter,
      profile: fixture.profile,
      dispatcherId: "inventory",
      ...discover("a"),
      handle: ({ cursor }) => ({ cursor: { page: (cursor?.page ?? 0) + 1 } }),
    });
    expect(report).toMatchObject({ completed: 1 });
    expect(await create().getSubject("a")).toMatchObject({ cursor: { page: 2 } });
  });

  test("counts an odd result as a failure that says what is accepted", async () => {
    const dispatcher = create();
    const report = await dispatcher.runSubjects({ ...discover("a"), handle: () => ({ page: 5 }) as never });
    expect(report).toMatchObject({ failed: 1 });
    expect((await dispatcher.getSubject("a"))?.lastError).toMatchObject({ code: "subject.invalid" });
  });

  test("is refused what it can't work with, and survives an onProgress that throws", async () => {
    const dispatcher = create();
    const handle = () => {};
    for (const options of [{}, { handle: 5 }, { handle, limit: 0 }, { handle, discover: () => 7 }, { handle, x: 1 }]) {
      await expect(dispatcher.runSubjects(options as never)).rejects.toMatchObject({ code: "subject.invalid" });
    }
    const onProgress = () => {
      throw new Error("not our fault");
    };
    expect(await dispatcher.runSubjects({ ...discover("a"), handle, onProgress })).toMatchObject({ completed: 1 });
  });
});
