import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSubjectDispatcher } from "../../src/index.ts";
import { waitUntil } from "../support/wait-until.ts";

const fromSource = new URL("../../scripts/from-source.ts", import.meta.url).href;
const program = fileURLToPath(new URL("../../examples/warehouses.ts", import.meta.url));

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "perdure-warehouses-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

function start(settings: Record<string, string>) {
  const env = { ...process.env, WAREHOUSES_DATABASE: join(directory, "warehouses.db"), ...settings };
  const child = spawn(process.execPath, ["--no-warnings", "--import", fromSource, program], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const run = { child, output: "", ended: once(child, "exit") };
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      run.output += text;
    });
  }
  return run;
}

const pages = (output: string, what: string) =>
  Array.from(
    output.matchAll(new RegExp(`^(\\S+): page (\\d+) ${what}$`, "gm")),
    ([, warehouse, page]) => `${warehouse} ${page}`,
  );

test("the import of warehouses continues with its page after kill -9 in the middle of it, in another process", async () => {
  const killed = start({ PAGE_MS: "50", LEASE_MS: "1000" });
  await waitUntil("some pages are done and another has begun", () => {
    const [begun, done] = [pages(killed.output, "begins"), pages(killed.output, "is done")];
    return done.length >= 4 && begun.length > done.length;
  });
  killed.child.kill("SIGKILL");
  await killed.ended;
  const before = pages(killed.output, "is done");

  await using dispatcher = createSubjectDispatcher<{ page: number }>({
    database: join(directory, "warehouses.db"),
    profile: "example",
    dispatcherId: "inventory",
  });
  const left = (await dispatcher.listSubjects()).subjects;
  expect(left.map(({ status }) => status)).toContain("running");

  const next = start({ PAGE_MS: "1", LEASE_MS: "1000" });
  await next.ended;
  expect(next.output).toMatch(/^60 items, imported \d+ times$/m);
  const after = pages(next.output, "is done");
  // A page whose checkpoint was stored is never imported again, even if no process had the time to say so.
  for (const { subjectKey, cursor } of left) {
    const warehouse = subjectKey.slice("warehouse:".length);
    const again = after.filter((page) => page.startsWith(`${warehouse} `));
    expect(again[0] ?? `${warehouse} 6`).toBe(`${warehouse} ${cursor?.page}`);
  }
  expect(after.filter((page) => before.includes(page))).toEqual([]);
  const { subjects } = await dispatcher.listSubjects();
  expect(subjects.map(({ cursor }) => cursor)).toEqual([{ page: 6 }, { page: 6 }, { page: 6 }]);
});
