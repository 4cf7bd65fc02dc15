import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { createDurableHooksProcessor, defineFragment, instantiate } from "../../src/index.ts";
import { settle } from "../support/controlled-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { installPackage } from "../support/install-package.ts";
import { createDatabase } from "../support/postgres-database.ts";
import { waitUntil } from "../support/wait-until.ts";
import { forever, recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

/** The sample of the documentation, word for word. */
const NODE_DISPATCHER = `
import { createDurableHooksProcessor } from "perdure";
import { createDurableHooksDispatcher } from "perdure/dispatchers/node";
import { fragment } from "./fragment.ts";

const processor = createDurableHooksProcessor(fragment);
if (processor) {
  const dispatcher = createDurableHooksDispatcher({
    processor,
    pollIntervalMs: 2000,
  });

  dispatcher.startPolling();
  process.on("SIGTERM", () => dispatcher.stopPolling());
}
`;

const FRAGMENT = (databaseAdapter: string) => `
import { defineFragment, instantiate, migrate } from "perdure";
import { postgres } from "perdure/postgres";
import { sqlite } from "perdure/sqlite";

interface Order {
  readonly id: string;
  readonly email: string;
}

const config = { say: (text: string) => console.log(text) };
const databaseAdapter = ${databaseAdapter};

const fragmentDef = defineFragment<{ say: (text: string) => void }>("orders")
  .provideHooks(({ config, defineHook }) => ({
    onOrderPlaced: defineHook({ retries: { limit: 8, delay: "1 second", backoff: "exponential" } }, async (order: Order, hook) => {
      config.say(\`confirmed \${order.email} in attempt \${hook.attempts}\`);
    }),
  }))
  .provideServices(({ unitOfWork }) => ({
    placeOrder: (order: Order) =>
      unitOfWork(async (uow) => {
        await uow.sql\`select \${order.id} as id\`;
        uow.triggerHook("onOrderPlaced", order, { key: order.id });
      }),
  }))
  .build();

export const fragment = instantiate(fragmentDef)
  .withConfig(config)
  .withOptions({
    databaseAdapter,
    durableHooks: {
      stuckProcessingTimeoutMinutes: 10,
      onStuckProcessingHooks: ({ namespace, timeoutMinutes, events }) => {
        console.warn("Re-queued stuck hooks", namespace, timeoutMinutes, events.length);
      },
    },
  })
  .build();
await migrate(fragment);
`;

const PLACE_ORDER = `
import { fragment } from "./fragment.ts";
await fragment.services.placeOrder({ id: "1", email: "ada@example.org" });
console.log("placed"); // and ends by itself, when it has told the dispatcher
`;

const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    target: "es2023",
    lib: ["esnext"],
    module: "nodenext",
    types: ["node"],
    noEmit: true,
    allowImportingTsExtensions: true,
    erasableSyntaxOnly: true,
  },
};

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../", import.meta.url));

describe("the samples, in a program that has the package installed", () => {
  let directory: string;
  const tsc = join(root, "node_modules", ".bin", "tsc");
  let child: ChildProcess | undefined;

  beforeAll(async () => {
    ({ project: directory } = await installPackage(["@types/node", "@types/pg", "undici-types"]));
    writeFileSync(join(directory, "tsconfig.json"), JSON.stringify(TSCONFIG));
  });

  afterEach(() => endChild());

  async function endChild(): Promise<void> {
    if (child?.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await once(child, "exit");
  }

  async function check(databaseAdapter: string): Promise<void> {
    writeFileSync(join(directory, "fragment.ts"), FRAGMENT(databaseAdapter));
    writeFileSync(join(directory, "dispatcher.ts"), NODE_DISPATCHER);
    writeFileSync(join(directory, "place-order.ts"), PLACE_ORDER);
    await run(tsc, ["-p", directory]).catch(({ stdout }: { stdout: string }) => expect(stdout).toBe(""));

    child = spawn(process.execPath, ["dispatcher.ts"], { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "exit");
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (text: Buffer) => (output += String(text)));
    const placed = await run(process.execPath, ["place-order.ts"], { cwd: directory });
    expect(placed.stdout).toBe("placed\n");
    await waitUntil("the order is confirmed", () => output.includes("confirmed"));
    child.kill("SIGTERM");

    expect(await ended).toEqual([0, null]); // it ends by itself: nothing keeps it alive
    expect(output).toBe("confirmed ada@example.org in attempt 1\n");
  }

  test("compile and run on SQLite", async () => {
    await check(`sqlite("app.db")`);
  }, 60_000);

  test("compile and run on PostgreSQL", async () => {
    const database = await createDatabase({ empty: true });
    try {
      await check(`postgres(${JSON.stringify(database.url)})`);
    } finally {
      await endChild();
      await database.drop();
    }
  }, 60_000);
});

describe.each(ENGINES)("the sample that configures the recovery of stuck hooks, on $name", (engine) => {
  const fixture = useHooks(engine);

  test("tells when a hook was queued again", async () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    const { adapter: databaseAdapter } = fixture.process({ other: recordCalls().definition }, { namespace: "other" });
    const config = { hang: forever };
    const fragmentDef = defineFragment<typeof config>(fixture.namespace)
      .provideHooks(({ config, defineHook }) => ({ hang: defineHook(() => config.hang()) }))
      .build();

    const fragment = instantiate(fragmentDef)
      .withConfig(config)
      .withOptions({
        databaseAdapter,
        durableHooks: {
          stuckProcessingTimeoutMinutes: 10,
          onStuckProcessingHooks: ({ namespace, timeoutMinutes, events }) => {
            console.warn("Re-queued stuck hooks", namespace, timeoutMinutes, events.length);
          },
        },
      })
      .build();

    await fragment.unitOfWork(async (uow) => uow.triggerHook("hang"));
    const processor = createDurableHooksProcessor(fragment);
    if (processor === null) throw new Error("There is a hook.");
    const dispatcher = createDurableHooksDispatcher({ processor, leaseMs: 3_600_000 });
    const drained = dispatcher.drain({ deadlineMs: 3_600_000 });
    await eventually(async () => expect((await fragment.durableHooks.statistics()).processing).toBe(1));
    await settle();
    await fixture.clock.advanceAndSettle(10 * 60_000);
    await eventually(() => expect(warn.mock.calls).toContainEqual(["Re-queued stuck hooks", fixture.namespace, 10, 1]));
    await drained;
    warn.mockRestore();
  });
});
