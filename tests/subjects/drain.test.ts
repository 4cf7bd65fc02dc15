import { afterEach, describe, expect, test } from "vitest";
import { createHttpHandler } from "../../src/http/index.ts";
import { type Application, defineHook, defineSubjects, perdure, type SubjectsDefinition } from "../../src/index.ts";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { gate } from "./support/gate.ts";
import { SILENT, useDispatcher } from "./support/use-dispatcher.ts";

type App = Application<Record<never, never>>;

const ORIGIN = "http://localhost";

/** Both ways to run what is due in a process that lives for one request. Each gives when something is due next. */
const WAYS: readonly [name: string, run: (app: App, deadlineMs: number) => Promise<number | null>][] = [
  [
    "app.drain()",
    async (app, deadlineMs) => {
      await app.drain({ deadlineMs });
      const wake = await app.subjects.nextWake();
      return wake === null ? null : app.parts.store.clock.now() + wake;
    },
  ],
  [
    "POST /_runner/tick",
    async (app, deadlineMs) => {
      const handler = createHttpHandler(app, { tick: { deadlineMs }, authorize: () => true });
      const headers = { "content-type": "application/json" };
      const response = await handler(new Request(`${ORIGIN}/_runner/tick`, { method: "POST", headers }));
      expect(response.status).toBe(200);
      const { nextWakeAt } = (await response.json()) as { nextWakeAt: string | null };
      return nextWakeAt === null ? null : Date.parse(nextWakeAt);
    },
  ],
];

describe.each(ENGINES)("subjects without a worker on $name", (engine) => {
  const fixture = useDispatcher(engine);
  const apps: App[] = [];
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.stop({ deadlineMs: 0 });
  });

  async function start(subjects: Record<string, SubjectsDefinition>, hooks = {}): Promise<App> {
    const database = fixture.database.adapter;
    const namespace = fixture.profile.replaceAll(" ", "-");
    const app = await perdure({ database, namespace, subjects, hooks, worker: false, logger: SILENT });
    apps.push(app as App);
    return app as App;
  }

  describe.each(WAYS)("are discovered and handled by %s", (_, run) => {
    test("once for each time that they are due", async () => {
      const handled: string[] = [];
      const discover = () => ["a", "b"].map((subjectKey) => ({ subjectKey, cursor: { page: 1 } }));
      const handle = ({ subjectKey, cursor }: { subjectKey: string; cursor: { page: number } | null }) => {
        handled.push(`${subjectKey} ${cursor?.page}`);
        return { cursor: { page: (cursor?.page ?? 0) + 1 } };
      };
      const app = await start({ inventory: defineSubjects({ every: "15 minutes", discover, handle }) });
      expect(handled).toEqual([]);

      expect(await run(app, 10_000)).toBe(fixture.clock.now() + 900_000);
      expect(handled.toSorted()).toEqual(["a 1", "b 1"]);
      await run(app, 10_000);
      expect(handled).toHaveLength(2);
      fixture.clock.advance(900_000);
      await run(app, 10_000);
      expect(handled.slice(2).toSorted()).toEqual(["a 2", "b 2"]);
    });

    test("until nothing is due, also where their handlers and hooks make work for each other", async () => {
      const done: string[] = [];
      const inner = defineSubjects({ every: "1 hour", handle: ({ subjectKey }) => void done.push(subjectKey) });
      const sync = defineHook({}, async () => {
        done.push("hook");
        await app.subjects.dispatcher("inner").syncSubjects({ subjects: [{ subjectKey: "inner" }] });
      });
      const outer = defineSubjects({
        every: "1 hour",
        discover: () => [{ subjectKey: "outer" }],
        handle: async ({ subjectKey }) => {
          done.push(subjectKey);
          await (app as Application<{ sync: typeof sync }>).hooks.sync.trigger();
        },
      });
      const app: App = await start({ outer, inner }, { sync });

      await run(app, 10_000);
      expect(done).toEqual(["outer", "hook", "inner"]);
    });

    test("until the deadline, and are given back then, uncounted", async () => {
      const begun = gate();
      const stuck = defineSubjects({
        every: "1 hour",
        discover: () => [{ subjectKey: "stuck" }],
        handle: async () => {
          begun.open();
          await new Promise(() => {});
        },
      });
      const app = await start({ stuck });
      const running = run(app, 5000);
      await begun.opened;
      await fixture.clock.advanceAndSettle(5000);
      await waitUntil("it has returned", async () => {
        await fixture.clock.advanceAndSettle(0);
        return Promise.race([running.then(() => true), settle().then(() => false)]);
      });

      const subject = await app.subjects.dispatcher("stuck").getSubject("stuck");
      expect(subject).toMatchObject({ status: "idle", attempts: 0, consecutiveFailures: 0 });
    });

    test("each apart from the others, with their failures and retries", async () => {
      const flaky = defineSubjects({
        every: "1 hour",
        retries: { delay: "1 minute", backoff: "constant" },
        discover: () => [{ subjectKey: "bad" }, { subjectKey: "good" }],
        handle: ({ subjectKey }) => {
          if (subjectKey === "bad") throw new Error("no");
        },
      });
      const app = await start({ flaky });

      expect(await run(app, 10_000)).toBe(fixture.clock.now() + 60_000);
      const { subjects } = await app.subjects.dispatcher("flaky").listSubjects();
      expect(subjects).toMatchObject([
        { subjectKey: "bad", status: "failed", consecutiveFailures: 1 },
        { subjectKey: "good", status: "idle", consecutiveFailures: 0 },
      ]);
    });
  });
});
