import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, expect, test } from "vitest";
import { ENGINES, type TestStore } from "../support/engines.ts";
import type { FloodReport, FloodSettings } from "./flood-settings.ts";

const program = fileURLToPath(new URL("./flood-program.ts", import.meta.url));
const SQLITE_HOOKS = Number(process.env.FLOOD_SQLITE_HOOKS ?? process.env.FLOOD_HOOKS ?? 100_000);
const POSTGRES_HOOKS = Number(process.env.FLOOD_POSTGRES_HOOKS ?? process.env.FLOOD_HOOKS ?? 20_000);
/** What the process may use. It needs a third of it, and a hundred thousand hooks would need several times as much. */
const HEAP_MEGABYTES = 64;
const TIMEOUT_MS = 120_000 + (SQLITE_HOOKS + POSTGRES_HOOKS) * 5;

let database: TestStore | undefined;

afterEach(async () => {
  await database?.dispose();
  database = undefined;
});

async function flood(settings: FloodSettings): Promise<FloodReport> {
  const parameters = [`--max-old-space-size=${HEAP_MEGABYTES}`, program, JSON.stringify(settings)];
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { timeout: TIMEOUT_MS });
  return JSON.parse(stdout) as FloodReport;
}

const floods = [
  { engine: "node:sqlite", hooks: SQLITE_HOOKS },
  { engine: "postgres", hooks: POSTGRES_HOOKS },
] as const;

test.each(floods)(
  "$hooks hooks triggered as fast as possible on $engine are all run, through a stop, in bounded memory",
  { timeout: TIMEOUT_MS },
  async ({ engine, hooks }) => {
    const found = ENGINES.find(({ name }) => name === engine);
    database = await found?.create();
    const report = await flood({ database: database?.location ?? "", hooks, callers: 500 });
    console.info(
      `${engine}: ${hooks} hooks in ${report.seconds.toFixed(1)} s, peak heap ${report.peakHeapMegabytes} MB ` +
        `of ${HEAP_MEGABYTES}, ${report.leftAtStop} left at the stop in the middle, ${report.ranAgain} ran again`,
    );
    expect(report).toMatchObject({ accepted: hooks, ran: hooks, leftAtEnd: 0 });
    expect(report.ranAgain).toBeLessThanOrEqual(500); // those that were running when it was stopped
    expect(report.peakHeapMegabytes).toBeLessThan(HEAP_MEGABYTES);
  },
);
