import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type Application, defineHook, type HookDefinition, perdure } from "../../src/index.ts";
import { Gate, type RecordedHook, recordCalls } from "../hooks/support/handlers.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { PREPARE_CONNECTION } from "../support/cut-texts.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { useFakeTime } from "../support/fake-time.ts";
import { createDatabase, type TestDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

type App = Application<{ readonly greet: HookDefinition<string, string> }>;

const NEVER_MS = 86_400_000;

let database: TestDatabase;
let proxy: CuttingProxy;
/** Reaches the database directly. */
let outside: App;
let logger: LogBook;

beforeEach(async () => {
  database = await createDatabase();
  proxy = await CuttingProxy.start(database.url);
  logger = new LogBook();
  outside = await perdure({ database: database.url, hooks: { greet: defineHook((_: string) => {}) }, worker: false });
});

afterEach(async () => {
  vi.useRealTimers();
  await outside.stop();
  await proxy.stop();
  await database.drop();
});

function startBehindProxy(
  greet: RecordedHook<string>,
  worker = { pollIntervalMs: NEVER_MS, leaseMs: 30_000 },
): Promise<App> {
  return perdure({ database: proxy.url, hooks: { greet: greet.definition }, worker, logger });
}

/** How many processes listen to announcements, by the server's account. */
async function listeners(): Promise<number> {
  const [row] = await outside.unitOfWork(
    (uow) => uow.sql`select count(*)::int as count from pg_stat_activity
      where datname = current_database() and state = 'idle' and query like 'listen%'`,
  );
  return row?.["count"] as number;
}

async function runsFromOutside(greet: RecordedHook<string>, name: string): Promise<void> {
  await outside.hooks.greet.trigger(name);
  await waitUntil(`${name} ran`, () => greet.payloads.includes(name));
}

describe("connections that are cut", () => {
  test("again and again lose nothing that was accepted", async () => {
    const greet = recordCalls<string>();
    const app = await startBehindProxy(greet, { pollIntervalMs: NEVER_MS, leaseMs: 1000 });
    const accepted: string[] = [];
    for (let round = 0; round < 10; round++) {
      const names = Array.from({ length: 50 }, (_, index) => `${round}-${index}`);
      const triggered = names.map((name) =>
        app.hooks.greet.trigger(name).then(() => {
          accepted.push(name);
        }),
      );
      await waitUntil("some were accepted", () => accepted.some((name) => name.startsWith(`${round}-`)));
      proxy.cutAll();
      await Promise.all(triggered);
    }
    await waitUntil("all were settled", async () => {
      const { pending, processing } = await outside.durableHooks.statistics();
      return pending + processing === 0;
    });
    expect(new Set(greet.payloads)).toEqual(new Set(accepted));
    expect(accepted).toHaveLength(500);
    await runsFromOutside(greet, "heard");
    await app.stop();
  });

  test("while nothing happens are made again, the listening one first of all", async () => {
    const greet = recordCalls<string>();
    const app = await startBehindProxy(greet);
    await runsFromOutside(greet, "before");
    proxy.cutAll();
    expect(proxy.connections).toBe(0);
    await waitUntil("there was a connection again", () => proxy.connections > 0);
    await runsFromOutside(greet, "after");
    await runsFromOutside(greet, "long after");
    await app.stop();
  });
});

describe("connections that fall silent", () => {
  /** Lets as much time pass as it takes, up to some minutes of it. */
  async function passTimeUntil(
    description: string,
    condition: () => boolean | Promise<boolean>,
    { limitMs = 300_000, stepMs = 250 } = {},
  ): Promise<void> {
    const start = performance.now();
    await waitUntil(description, async () => {
      if (await condition()) return true;
      if (performance.now() > start + limitMs) throw new Error(`${limitMs} ms passed in vain until ${description}.`);
      vi.advanceTimersByTime(stepMs);
      return false;
    });
  }

  /** A statement on a silent connection is given up only when time passes. */
  async function passTimeFor(promise: Promise<unknown>): Promise<void> {
    let ended = false;
    const result = promise.finally(() => {
      ended = true;
    });
    await passTimeUntil("it ended", () => ended);
    await result;
  }

  /** Sooner than a connection that hears nothing would be noticed. */
  async function isHeard(greet: RecordedHook<string>, name: string): Promise<void> {
    await outside.hooks.greet.trigger(name);
    await passTimeUntil(`${name} ran`, () => greet.payloads.includes(name), { limitMs: 20_000 });
  }

  test("while nothing happens are noticed, and replaced", async () => {
    useFakeTime();
    const greet = recordCalls<string>();
    const app = await startBehindProxy(greet);
    await passTimeUntil("it listens", async () => (await listeners()) === 1);
    await isHeard(greet, "before");
    await passTimeUntil("it was settled", async () => (await outside.durableHooks.list()).hooks.length === 0);
    proxy.fallSilent();
    proxy.speakAgain();
    await outside.hooks.greet.trigger("meanwhile");
    await passTimeUntil("the one of the silent time ran", () => greet.payloads.includes("meanwhile"));
    // The server doesn't know that the first of them is deaf.
    await passTimeUntil("it listens on another connection", async () => (await listeners()) === 2);
    await isHeard(greet, "after");
    await passTimeFor(app.stop());
  });

  test("while a handler runs don't cost it its lease", async () => {
    useFakeTime();
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const app = await startBehindProxy(greet, { pollIntervalMs: NEVER_MS, leaseMs: 60_000 });
    await passTimeUntil("it listens", async () => (await listeners()) === 1);
    await isHeard(greet, "ada");
    const [hook] = (await outside.durableHooks.list()).hooks;
    proxy.fallSilent();
    proxy.speakAgain();
    const start = performance.now();
    // Slowly: while time passes, the database takes its own to renew the lease.
    await passTimeUntil("two minutes had passed", () => performance.now() > start + 120_000, { stepMs: 100 });

    expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
    const renewed = (await outside.durableHooks.list()).hooks[0]?.availableAt;
    expect(renewed?.getTime()).toBeGreaterThan(hook?.availableAt?.getTime() ?? 0);
    gate.open();
    await passTimeUntil("it was settled", async () => (await outside.durableHooks.list()).hooks.length === 0);
    expect(greet.calls).toHaveLength(1);
    await passTimeFor(app.stop());
  });

  test.each([
    ["in the middle of the work", []],
    ["in the middle of the work, one of them before it was ever used,", [PREPARE_CONNECTION]],
  ])("%s lose nothing", async (_, [silentAt]) => {
    useFakeTime();
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const app = await startBehindProxy(greet);
    if (silentAt !== undefined) void proxy.cut(silentAt, "silence");
    for (const name of ["ada", "bob", "cy"]) await outside.hooks.greet.trigger(name);
    await passTimeUntil("they ran", () => greet.calls.length === 3);
    proxy.fallSilent();
    proxy.speakAgain();
    gate.open();
    const triggered = app.hooks.greet.trigger("dan");
    await passTimeUntil("all were settled", async () => {
      const { pending, processing } = await outside.durableHooks.statistics();
      return pending + processing === 0 && greet.payloads.includes("dan");
    });
    await passTimeFor(triggered);
    await passTimeFor(app.stop());
  });

  test("while they are being made are given up, and made again", async () => {
    useFakeTime();
    const greet = recordCalls<string>();
    const app = await startBehindProxy(greet);
    await passTimeUntil("it listens", async () => (await listeners()) === 1);
    await isHeard(greet, "before");
    proxy.cutAll();
    proxy.fallSilent(); // a client that connects now is accepted, and never answered
    await outside.hooks.greet.trigger("meanwhile");
    const start = performance.now();
    await passTimeUntil("a minute had passed", () => performance.now() > start + 60_000);
    proxy.speakAgain();
    await passTimeUntil("the one of the silent time ran", () => greet.payloads.includes("meanwhile"));
    await passTimeUntil("it listens", async () => (await listeners()) === 1);
    await isHeard(greet, "after");
    await passTimeFor(app.stop());
  });
});
