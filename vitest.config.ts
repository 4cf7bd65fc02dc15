import { globSync, readFileSync, statfsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import type { Plugin } from "vite";
import { configDefaults, defineConfig } from "vitest/config";
import { type EntryPoint, entryPoints, PAGE, workerEntryPoints } from "./scripts/entry-points.ts";

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/** Ends what hangs. A slow machine may take its time. */
const TEST_TIMEOUT_MS = 240_000;

/** Databases of tests live in memory where there is plenty of it: a test is about a killed process, never about a lost disk. */
const MEMORY = "/dev/shm";
const ENOUGH_BYTES = 4 * 1024 ** 3;

/** Real processes, browsers, compilers, whole worlds of faults, floods and other runtimes: `npm run test:fast` leaves them out. */
const SLOW = [
  "chaos",
  "cli",
  "cloudflare",
  "conformance",
  "dashboard",
  "docs",
  "durable-objects",
  "load",
  "package",
  "processes",
  "runtimes",
  "simulation",
];

/** Of other folders. */
const SLOW_FILES = ["tests/client/browser.test.ts", "tests/client/runtimes.test.ts", "tests/testing/realms.test.ts"];

/** Tests that run on every engine and keep no state outside of their databases: their files share a process, which saves time. */
const ENGINE_SUITES = ["codec", "dispatcher", "fuzz", "hooks", "http", "schedules", "store", "subjects", "workflows"];

/** The tests of behaviour that also run inside of workerd, on the storage of a Durable Object. */
const SHARED_SUITE = ["tests/store/*.test.ts", "tests/hooks/*.test.ts", "tests/workflows/*.test.ts"];

/** Of these, what is about other engines, or about files and processes: known by its name, or by what it imports. */
const NEEDS_NODE =
  /from "(pg|better-sqlite3|node:(sqlite|fs|child_process)|[^"]*\/(testing\/index|(use-)?postgres[a-z/-]*|cut-commits|instance-session)\.ts)"/;
const otherEngines = globSync(SHARED_SUITE, { cwd: path(".") }).filter(
  (file) => file.includes("/postgres-") || NEEDS_NODE.test(readFileSync(path(file), "utf8")),
);

/** Inside of workerd there is another list of engines. */
const objectEngines: Plugin = {
  name: "object-engines",
  enforce: "pre",
  resolveId(source, importer) {
    if (source === "pg") return path("tests/workerd/support/no-postgres.ts");
    if (!source.endsWith("support/engines.ts") || importer?.includes("/tests/workerd/")) return null;
    return path("tests/workerd/support/engines.ts");
  },
};

/** Examples and samples import the package by its name; here that means its sources. */
const fromSource = (all: readonly EntryPoint[]) => ({
  alias: [
    ...all.map(({ specifier, source }) => ({ find: new RegExp(`^${specifier}$`), replacement: source })),
    { find: "#dashboard-page", replacement: PAGE },
  ],
});

const inFolders = (folders: readonly string[]) => folders.map((folder) => `tests/${folder}/**/*.test.ts`);

const onNode = {
  globalSetup: [
    "tests/support/postgres-server.ts",
    "tests/support/package-folder.ts",
    "tests/support/dashboard-page.ts",
  ],
  pool: "forks" as const,
  testTimeout: TEST_TIMEOUT_MS,
  hookTimeout: TEST_TIMEOUT_MS,
};

/** Node keeps the compiled sources here, so that a process of a test starts in a third of the time. */
process.env["NODE_COMPILE_CACHE"] ??= path("node_modules/.cache/compiled");

if (process.env["TMPDIR"] === undefined && hasMemory()) process.env["TMPDIR"] = MEMORY;

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ENOUGH_BYTES;
  } catch {
    return false;
  }
}

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        resolve: fromSource(entryPoints),
        test: {
          ...onNode,
          name: "engines",
          include: inFolders(ENGINE_SUITES),
          isolate: false,
          setupFiles: ["tests/support/real-timers.ts"],
        },
      },
      {
        resolve: fromSource(entryPoints),
        test: {
          ...onNode,
          name: "node",
          include: ["src/**/*.test.ts", "tests/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...SLOW_FILES, ...inFolders([...ENGINE_SUITES, ...SLOW, "workerd"])],
        },
      },
      {
        resolve: fromSource(entryPoints),
        test: { ...onNode, name: "slow", include: [...SLOW_FILES, ...inFolders(SLOW)] },
      },
      {
        resolve: fromSource([...workerEntryPoints, ...entryPoints]),
        plugins: [
          objectEngines,
          cloudflareTest({
            main: path("tests/workerd/support/worker.ts"),
            miniflare: {
              compatibilityDate: "2026-01-01",
              compatibilityFlags: ["nodejs_compat"],
              durableObjects: {
                DATABASE: { className: "DatabaseObject", useSQLite: true },
                SAMPLE: { className: "MyFragmentDO", useSQLite: true },
                SHOP: { className: "Shop", useSQLite: true },
                STOCK: { className: "Stock", useSQLite: true },
              },
            },
          }),
        ],
        test: {
          name: "workerd",
          include: [...SHARED_SUITE, "tests/workerd/*.test.ts"],
          exclude: [...configDefaults.exclude, ...otherEngines],
          isolate: false,
          runner: path("tests/workerd/support/object-runner.ts"),
          testTimeout: TEST_TIMEOUT_MS,
          hookTimeout: TEST_TIMEOUT_MS,
        },
      },
    ],
  },
});
