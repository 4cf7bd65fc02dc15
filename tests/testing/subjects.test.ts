import { describe, expect, test } from "vitest";
import { defineHook, defineSubjects } from "../../src/index.ts";
import { createTestApp } from "../../src/testing/index.ts";

interface Cursor {
  readonly page: number;
}

describe("subjects of a test application", () => {
  function createImport(pages: number) {
    const seen: string[] = [];
    const imports = defineSubjects({
      every: "15 minutes",
      discover: () => ["a", "b"].map((subjectKey) => ({ subjectKey, cursor: { page: 1 } as Cursor })),
      handle: async ({ subjectKey, cursor }, { checkpoint }) => {
        for (let page = cursor?.page ?? 1; page <= pages; page++) {
          seen.push(`${subjectKey} ${page}`);
          await checkpoint({ page: page + 1 });
        }
        return { cursor: { page: 1 } };
      },
    });
    return { imports, seen };
  }

  test("run when the test says so, and again when their time has come", async () => {
    const { imports, seen } = createImport(1);
    await using app = await createTestApp({ subjects: { imports } });
    expect(seen).toEqual([]);

    await app.runUntilIdle();
    expect(seen.toSorted()).toEqual(["a 1", "b 1"]);
    await app.advance("14 minutes");
    expect(seen).toHaveLength(2);
    await app.advance("1 minute");
    expect(seen).toHaveLength(4);
    expect(await app.subjects.dispatcher("imports").getSubject("a")).toMatchObject({ status: "idle", attempts: 0 });
  });

  test("are tried again by their schedule, and what they throw is among the errors", async () => {
    const attempts: number[] = [];
    const flaky = defineSubjects({
      every: "1 hour",
      retries: { delay: "1 minute", backoff: "constant" },
      discover: () => [{ subjectKey: "a" }],
      handle: () => {
        attempts.push(app.now());
        if (attempts.length < 3) throw new Error(`attempt ${attempts.length}`);
      },
    });
    await using app = await createTestApp({ subjects: { flaky } });
    const begin = app.now();
    await app.runUntilIdle();
    await app.advance("2 minutes");

    expect(attempts).toEqual([begin, begin + 60_000, begin + 120_000]);
    expect(app.errors.map(({ error, description, attempt }) => [String(error), description, attempt])).toEqual([
      ["Error: attempt 1", 'subject "a"', 1],
      ["Error: attempt 2", 'subject "a"', 2],
    ]);
  });

  test("continue from their checkpoint when their process has crashed, after their lease", async () => {
    const pages: number[] = [];
    const imports = defineSubjects({
      every: "1 hour",
      discover: () => [{ subjectKey: "a", cursor: { page: 1 } as Cursor }],
      handle: async ({ cursor }, { checkpoint }) => {
        for (let page = cursor?.page ?? 1; page <= 3; page++) {
          pages.push(page);
          if (page === 2 && pages.length === 2) await app.crash();
          await checkpoint({ page: page + 1 });
        }
      },
    });
    await using app = await createTestApp({ subjects: { imports } });
    await app.runUntilIdle();
    expect(pages).toEqual([1, 2]);
    await app.advance("29 seconds");
    expect(pages).toEqual([1, 2]);
    await app.advance("1 second");
    expect(pages).toEqual([1, 2, 2, 3]);
  });

  test("run beside hooks that sync them, and what a test syncs stays until it says so", async () => {
    const handled: string[] = [];
    const stock = defineSubjects({ every: "1 hour", handle: ({ subjectKey }) => void handled.push(subjectKey) });
    const discover = defineHook({}, async (subjectKey: string) => {
      await app.subjects.dispatcher("stock").syncSubjects({ subjects: [{ subjectKey }] });
    });
    await using app = await createTestApp({ subjects: { stock }, hooks: { discover } });
    await app.hooks.discover.trigger("a");
    await app.runUntilIdle();
    expect(handled).toEqual(["a"]);

    await app.subjects.dispatcher("stock").syncSubjects({ subjects: [{ subjectKey: "b" }] });
    expect(handled).toEqual(["a"]);
    await app.runUntilIdle();
    expect(handled).toEqual(["a", "b"]);
  });

  test("that wait for time get it from advance", async () => {
    const done: string[] = [];
    const slow = defineSubjects({
      every: "1 hour",
      discover: () => [{ subjectKey: "a" }],
      handle: async () => {
        await app.workflowClock;
        done.push("a");
      },
    });
    const wait = Promise.withResolvers<void>();
    const app = Object.assign(await createTestApp({ subjects: { slow } }), { workflowClock: wait.promise });
    await app.advance("10 seconds");
    expect(done).toEqual([]);
    wait.resolve();
    await app.advance("1 second");
    expect(done).toEqual(["a"]);
    await app.stop();
  });

  test("are refused if their definition is wrong", async () => {
    const subjects = { inventory: { every: "1 hour" } } as never;
    await expect(createTestApp({ subjects })).rejects.toMatchObject({ code: "subject.invalid" });
  });
});
