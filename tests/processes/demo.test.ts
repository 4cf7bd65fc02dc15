import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { definePurchase } from "../../examples/approval.ts";
import { perdure } from "../../src/index.ts";
import { waitUntil } from "../support/wait-until.ts";

const program = fileURLToPath(new URL("../../examples/demo.ts", import.meta.url));

/** What the demo says at each of these moments, in order. */
const MOMENTS = [
  "requested",
  "within the budget?",
  "manager ",
  "doesn't answer: once",
  "orders a chair",
  "the receipt",
];
/** What a step says when it runs. */
const WORDS: Readonly<Record<string, string>> = {
  "check the budget": "within the budget?",
  order: "orders a chair",
  tell: "sends the receipt",
};

let directory: string;
const children: ChildProcess[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "perdure-demo-"));
});

afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

/** What `npm start` runs. */
function startDemo() {
  const child = spawn(process.execPath, [program], { cwd: directory, stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  const ended = once(child, "exit").then(([code]) => code as number | null);
  return { child, ended, output: () => output };
}

/** What is stored of the purchases. */
async function readPurchases() {
  const purchase = definePurchase({ say: () => {}, notify: async () => {} });
  await using app = await perdure({
    database: join(directory, "perdure-demo.db"),
    workflows: { purchase },
    worker: false,
  });
  const { instances } = await app.workflows.purchase.list();
  return await Promise.all(
    instances.map(async ({ id, status }) => {
      const { run, entries } = await (await app.workflows.purchase.get(id)).history();
      const done = entries.filter(({ kind }) => kind === "completed" || kind === "received").map(({ name }) => name);
      return { status, run, done };
    }),
  );
}

test("the demo goes on where it was killed, and no step that was done is done again", {
  timeout: 120_000,
}, async () => {
  let done: string[] = [];
  const checkOutput = (output: string) => {
    for (const step of done) expect(output, `"${step}" was done before`).not.toContain(WORDS[step] ?? "never said");
  };
  for (const index of MOMENTS.keys()) {
    const { child, ended, output } = startDemo();
    const moments = MOMENTS.slice(index); // what was to be said may have been said by the run before
    await waitUntil(`the demo says "${MOMENTS[index]}"`, () => moments.some((words) => output().includes(words)));
    child.kill("SIGKILL");
    await ended;
    checkOutput(output());
    const [purchase] = await readPurchases(); // the newest
    expect(purchase?.run).toBe(1);
    expect(purchase?.done.slice(0, done.length)).toEqual(done);
    done = purchase?.status === "complete" ? [] : (purchase?.done ?? []); // on a slow machine: the next run has another one
  }
  const { ended, output } = startDemo();
  expect(await ended, output()).toBe(0);
  checkOutput(output());
  expect(output()).toContain("everything that was accepted has been done");
  expect((await readPurchases())[0]).toMatchObject({
    status: "complete",
    done: ["check the budget", "approval", "time to change your mind", "order", "tell"],
  });
});
