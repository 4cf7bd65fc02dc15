import { describe, expect, test } from "vitest";
import { type Application, defineSubjects, perdure, type SubjectsOptions } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { gate } from "./support/gate.ts";
import { SILENT, useDispatcher } from "./support/use-dispatcher.ts";

const MINUTE = 60_000;

describe.each(ENGINES)("subjects of an application on $name", (engine) => {
  const fixture = useDispatcher(engine);
  const discover = () => [{ subjectKey: "a", cursor: { page: 1 } }, { subjectKey: "b" }];

  function start(definition?: SubjectsOptions<{ page: number }>, worker = true) {
    const { adapter } = fixture.database;
    const namespace = fixture.profile.replace(" ", "-");
    const subjects = definition === undefined ? {} : { inventory: defineSubjects(definition) };
    return perdure({ database: adapter, namespace, subjects, worker, logger: SILENT });
  }
  const until = (app: Pick<Application<never>, "subjects">, what: string, count: number) =>
    waitUntil(`${count} are ${what}`, async () => {
      const { subjects } = await app.subjects.dispatcher("inventory").listSubjects();
      return subjects.filter(({ lastSuccessAt }) => lastSuccessAt?.getTime() === fixture.clock.now()).length === count;
    });

  test("are discovered and handled by themselves, again and again", async () => {
    const seen: string[] = [];
    await using app = await start({
      every: "15 minutes",
      discover,
      handle: ({ subjectKey, cursor }) => {
        seen.push(`${subjectKey} ${cursor?.page}`);
        return { cursor: { page: (cursor?.page ?? 0) + 1 } };
      },
    });
    await until(app, "done", 2);
    expect(seen.sort()).toEqual(["a 1", "b undefined"]);
    fixture.clock.advance(14 * MINUTE);
    expect(await app.subjects.dispatcher("inventory").claimDueSubjects({ limit: 9, leaseMs: 1000 })).toEqual([]);
    fixture.clock.advance(MINUTE);
    await until(app, "done again", 2);
    expect(seen.slice(2).sort()).toEqual(["a 2", "b 1"]);
  });

  test("can be defined while the application runs", async () => {
    await using app = await start();
    const dispatcher = app.subjects.define("inventory", { every: "1 minute", discover, handle: () => {} });

    await until(app, "done", 2);
    expect(await dispatcher.getSubject("a")).toMatchObject({
      profile: fixture.profile.replace(" ", "-"),
      status: "idle",
    });
    expect(() => app.subjects.define("inventory", { every: "1 minute", handle: () => {} })).toThrow(
      expect.objectContaining({ code: "subject.invalid" }),
    );
  });

  test("are tried again when they have failed, without waiting for the interval", async () => {
    let failures = 0;
    await using app = await start({
      every: "1 hour",
      retries: { delay: "1 minute", backoff: "constant" },
      discover: () => [{ subjectKey: "a" }],
      handle: () => {
        if (failures++ === 0) throw new Error("not yet");
      },
    });
    const dispatcher = app.subjects.dispatcher("inventory");
    await waitUntil("it failed", async () => (await dispatcher.getSubject("a"))?.status === "failed");
    fixture.clock.advance(MINUTE);
    await until(app, "done", 1);
    expect(failures).toBe(2);
  });

  test("are handled as soon as they are synced", async () => {
    await using app = await start({ every: "1 hour", handle: () => {} });
    const dispatcher = app.subjects.dispatcher("inventory");
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "x" }] });
    await until(app, "done", 1);
  });

  test("are shared by processes, each handled by one of them", async () => {
    const handled: string[] = [];
    let discoveries = 0;
    const both = gate();
    const keys = Array.from({ length: 20 }, (_, index) => `s${index}`);
    const definition: SubjectsOptions<{ page: number }> = {
      every: "1 hour",
      concurrency: 2,
      discover: () => {
        discoveries++;
        return keys.map((subjectKey) => ({ subjectKey }));
      },
      handle: async ({ subjectKey }) => {
        handled.push(subjectKey);
        if (handled.length === 4) both.open();
        await both.opened;
      },
    };
    await using first = await start(definition);
    await using second = await start(definition);
    first.wake();
    second.wake();
    await until(first, "done", 20);
    expect(handled.sort()).toEqual(keys.sort());
    expect(discoveries).toBe(1);
  });

  test("aren't handled by a process that doesn't work", async () => {
    await using app = await start({ every: "1 hour", discover, handle: () => {} }, false);
    await app.subjects.dispatcher("inventory").syncSubjects({ subjects: [{ subjectKey: "x" }] });
    app.wake();
    await using worker = await start({ every: "1 hour", handle: () => {} });
    await until(worker, "done", 1);
    expect(await app.subjects.dispatcher("inventory").getSubject("a")).toBeNull();
  });

  test("are handed back when the application stops in their middle", async () => {
    const begun = gate();
    const app = await start({
      every: "1 hour",
      discover: () => [{ subjectKey: "a" }],
      handle: async (_, { signal }) => {
        begun.open();
        await new Promise((_resolve, reject) => signal.addEventListener("abort", reject));
      },
    });
    await begun.opened;
    const stopping = app.stop({ deadlineMs: 1000 });
    await waitUntil("it waits", () => fixture.clock.timers > 0);
    fixture.clock.advance(1000);
    await stopping;

    const dispatcher = fixture.create({ profile: fixture.profile.replace(" ", "-") });
    expect(await dispatcher.getSubject("a")).toMatchObject({ status: "idle", attempts: 0, leaseOwner: null });
    expect(() => app.subjects.define("late", { every: "1 hour", handle: () => {} })).toThrow(/stopped/);
  });

  test("are refused if their definition is wrong", () => {
    const handle = () => {};
    for (const options of [{}, { handle }, { handle, every: "10 milliseconds" }, { handle, every: "1 hour", x: 1 }]) {
      expect(() => defineSubjects(options as never)).toThrow();
    }
  });
});
