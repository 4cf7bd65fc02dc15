import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDurableHooksDispatcher, type DurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import type { HookDefinitions } from "../../src/hooks/define-hook.ts";
import {
  type AnyFragment,
  createDurableHooksProcessor,
  defineFragment,
  defineHook,
  defineWorkflow,
  instantiate,
  migrate,
  workflowsFragment,
} from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { sqlite } from "../../src/store/sqlite/index.ts";
import type { DatabaseAdapter } from "../../src/store/store.ts";
import { openCountingDatabase } from "../support/counting-database.ts";
import { createCountingPool, StatementLog } from "../support/counting-pool.ts";
import { passFakeTime, useFakeTime } from "../support/fake-time.ts";
import { createDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** As README.md says: of hooks alone. */
const MOST_A_MINUTE = Number(
  /at most (\d+) statements a minute/.exec(readFileSync(new URL("../../README.md", import.meta.url), "utf8"))?.[1],
);
/** With workflows, lines of limits and schedules to look after, too. */
const MOST_OF_EVERYTHING = 10;
/** What only a claim asks. */
const CLAIM = /available_at <= /;

/** What stands around a write on SQLite, in the same process. */
const FRAME = /^(begin|commit|pragma)/;

interface CountedDatabase {
  readonly adapter: DatabaseAdapter;
  readonly log: StatementLog;
  /** For another process. */
  reopen(): DatabaseAdapter;
  close(): Promise<void>;
}

/** The dice fall so that everything happens as soon and as often as it ever can, unless a test throws other numbers first. */
const thrown: number[] = [];
const eager = {
  fraction: () => thrown.shift() ?? 0,
  bytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
};

const DATABASES: readonly { name: string; open: () => Promise<CountedDatabase> }[] = [
  {
    name: "SQLite",
    open: async () => {
      const directory = mkdtempSync(join(tmpdir(), "perdure-idle-"));
      const log = new StatementLog();
      const database = openCountingDatabase(join(directory, "test.db"), log.texts);
      const adapter = sqlite(database, { randomness: eager });
      const close = async () => {
        await adapter.store.close();
        database.close();
        rmSync(directory, { recursive: true });
      };
      return { adapter, log, reopen: () => sqlite(join(directory, "test.db")), close };
    },
  },
  {
    name: "PostgreSQL",
    open: async () => {
      const database = await createDatabase();
      const log = new StatementLog();
      const pool = createCountingPool(database.url, log);
      const adapter = postgres(pool, { randomness: eager });
      const close = async () => {
        await adapter.store.close();
        await pool.end();
        await database.drop();
      };
      return { adapter, log, reopen: () => postgres(database.url), close };
    },
  },
];

describe.each(DATABASES)("an idle dispatcher on $name", ({ name, open }) => {
  let database: CountedDatabase;
  let dispatcher: DurableHooksDispatcher | undefined;
  let handling: Promise<void> | undefined;
  let begun = 0;

  beforeEach(async () => {
    thrown.length = 0;
    handling = undefined;
    begun = 0;
    database = await open();
  });

  afterEach(async () => {
    vi.useRealTimers();
    await dispatcher?.stopPolling();
    await database.close();
  });

  /** A fragment of two hooks, of which a dispatcher of this process knows the first. */
  async function createFragments() {
    const greet = defineHook((_name: string) => {
      begun += 1;
      return handling;
    });
    const known = build({ greet });
    await migrate(known);
    return { known, greet, newer: build({ greet, unheardOf: greet }) };
  }

  function build<Hooks extends HookDefinitions>(hooks: Hooks, databaseAdapter = database.adapter) {
    const definition = defineFragment("idle").provideHooks(() => hooks);
    return instantiate(definition.build()).withOptions({ databaseAdapter }).build();
  }

  /** A fragment of workflows that have everything which a worker looks after. */
  async function createWorkflows() {
    const plain = defineWorkflow({ name: "plain" }, async () => {});
    const limited = defineWorkflow({ name: "limited", concurrency: { limit: 1 } }, async () => {});
    const yearly = defineWorkflow({ name: "yearly", schedules: ["@yearly"] }, async () => {});
    const fragment = instantiate(workflowsFragment)
      .withConfig({ workflows: { plain, limited, yearly } })
      .withOptions({ databaseAdapter: database.adapter })
      .build();
    await migrate(fragment);
    return fragment;
  }

  async function startIdle(...fragments: AnyFragment[]): Promise<void> {
    const processor = createDurableHooksProcessor(fragments);
    if (processor === null) throw new Error("There are hooks.");
    useFakeTime();
    dispatcher = createDurableHooksDispatcher({ processor });
    dispatcher.startPolling();
    await waitUntil("it listens", () => processor.connected);
    await passFakeTime(1000, settled);
  }

  const settled = () => database.log.inFlight === 0;

  async function passIdleTime(milliseconds: number, mostAMinute = MOST_A_MINUTE): Promise<void> {
    database.log.clear();
    const passed = await passFakeTime(milliseconds, settled);
    const texts = database.log.texts.filter((text) => !FRAME.test(text));
    expect(database.log.matching(CLAIM)).toEqual([]);
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.length).toBeLessThanOrEqual((passed / MINUTE_MS) * mostAMinute);
  }

  test("asks for no more a minute than README.md says, purge and check of the listening connection included", async () => {
    const { known } = await createFragments();
    await startIdle(known);
    await passIdleTime(HOUR_MS);

    expect(database.log.matching(/delete/)).toHaveLength(1);
    if (name === "PostgreSQL") expect(database.log.texts).toContain("select");
  });

  test("asks for no more than README.md says in each minute of an hour, also in the one in which it purges", async () => {
    const { known } = await createFragments();
    await startIdle(known);
    let purges = 0;
    for (let minute = 0; minute <= 60; minute++) {
      database.log.clear();
      await passFakeTime(MINUTE_MS, settled);
      const asked = database.log.texts.filter((text) => !FRAME.test(text));
      expect(asked.length, asked.join("\n")).toBeLessThanOrEqual(MOST_A_MINUTE);
      purges += database.log.matching(/delete/).length;
    }
    expect(purges).toBe(1);
  });

  test.runIf(name === "PostgreSQL")(
    "asks for no more than README.md says in the minute after a hook of another process, also if it purges then",
    async () => {
      const { known, greet } = await createFragments();
      const elsewhere = database.reopen();
      thrown.push(0.4); // the first purge: after 24 seconds
      await startIdle(known);
      const ticks = setInterval(() => {}, 1000); // so that time passes in small parts
      const { promise, resolve } = Promise.withResolvers<void>();
      handling = promise;
      await build({ greet }, elsewhere).unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));
      await waitUntil("the worker has it", () => begun > 0);
      await passFakeTime(1000, settled); // the worker learns when its own lease ends
      resolve();
      await passFakeTime(1000, settled);
      database.log.clear();
      await passFakeTime(MINUTE_MS, settled);
      clearInterval(ticks);
      await elsewhere.store.close();

      const { texts } = database.log;
      expect(texts.length, texts.join("\n")).toBeLessThanOrEqual(MOST_A_MINUTE);
      expect(database.log.matching(/delete/)).toHaveLength(1);
      expect(database.log.matching(CLAIM)).toEqual([]);
    },
  );

  test("asks for ten things a minute at most if it has workflows, limits and schedules, too", async () => {
    const { known } = await createFragments();
    await startIdle(known, await createWorkflows());
    await passIdleTime(20 * MINUTE_MS, MOST_OF_EVERYTHING);
  });

  test("doesn't look at what it can't run", async () => {
    const { known, newer } = await createFragments();
    await newer.unitOfWork(async (uow) => uow.triggerHook("unheardOf", "ada"));
    await startIdle(known);
    await passIdleTime(10 * MINUTE_MS);
  });

  test("doesn't claim what is due later than any timer can wait for", async () => {
    const { known } = await createFragments();
    const processAt = new Date(Date.now() + 60 * 24 * HOUR_MS);
    await known.unitOfWork(async (uow) => uow.triggerHook("greet", "ada", { processAt }));
    await startIdle(known);
    await passIdleTime(10 * MINUTE_MS);
  });
});
