import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, test } from "vitest";
import { perdure } from "../../src/app/perdure.ts";
import { Screen } from "../../src/cli/terminal/screen.ts";
import { Terminal } from "../../src/cli/terminal/terminal.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { WorkflowEvent } from "../../src/workflows/define/workflow-event.ts";
import { waitUntil } from "../support/wait-until.ts";
import { runInPipe, runInTerminal } from "./support/program.ts";

const cwd = mkdtempSync(join(tmpdir(), "perdure-terminal-"));
const database = ["--database", "app.db"];
const COLOUR = "\u001b[3";

const sleeper = defineWorkflow({ name: "sleeper" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.do("work", async () => {});
  await step.sleep("night", "8 hours");
});

const open = () => perdure({ database: join(cwd, "app.db"), workflows: { sleeper }, worker: false });

beforeAll(async () => {
  await using app = await perdure({ database: join(cwd, "app.db"), workflows: { sleeper } });
  for (const id of ["one", "two"]) await app.workflows.sleeper.create({ id });
  await waitUntil("both sleep", async () => (await app.instances.counts()).total.waiting === 2);
});
afterAll(() => rmSync(cwd, { recursive: true }));

test("a terminal gets colours and symbols; a pipe, NO_COLOR and a dumb terminal don't", async () => {
  const show = ["workflows", "show", "sleeper/one", ...database];
  const programs = [
    runInTerminal(show, { cwd }),
    runInTerminal(show, { cwd, env: { NO_COLOR: "1" } }),
    runInTerminal(show, { cwd, env: { TERM: "dumb", LANG: "C" } }),
    runInPipe(show, { cwd }),
  ];
  for (const program of programs) expect(await program.ended, program.output()).toBe(0);
  const [rich = "", plain = "", dumb = "", piped = ""] = programs.map((program) => program.output());

  expect(rich).toContain(COLOUR);
  expect(rich).toContain("█");
  expect(plain).not.toContain("\u001b[3");
  expect(plain).toContain("█");
  for (const text of [dumb, piped]) expect(text).toMatch(/^[\x20-\x7e\r\n]+$/);
  expect(piped).toMatch(/^sleep night +\.*-+$/m);
});

test("a terminal is asked before something is deleted", async () => {
  const deletion = ["workflows", "delete", "sleeper/two", ...database];
  const declined = runInTerminal(deletion, { cwd });
  await declined.says(/Delete sleeper\/two in app\.db\?/);
  declined.type("n");
  expect(await declined.ended).toBe(9);
  expect(declined.output()).toContain("Nothing was done.");
  await using app = await open();
  expect((await app.workflows.sleeper.get("two")).id).toBe("two");

  const accepted = runInTerminal(deletion, { cwd });
  await accepted.says(/Delete sleeper\/two/);
  accepted.type("y");
  expect(await accepted.ended).toBe(0);
  await expect(app.workflows.sleeper.get("two")).rejects.toMatchObject({ code: "instance.not_found" });
});

test("a watch shows changes until Ctrl-C", async () => {
  const watch = runInTerminal(["workflows", "list", "--watch", "--interval", "0.1", ...database], { cwd });
  await watch.says(/sleeper\/one +\S*waiting/);
  await using app = await open();
  await (await app.workflows.sleeper.get("one")).pause();

  await watch.says(/sleeper\/one +\S*paused/);
  watch.type("\u0003");

  expect(await watch.ended).toBe(130);
});

test("a watch shows what the terminal has room for, and erases nothing that was on it before", () => {
  let written = "";
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 10, rows: 6 });
  stdout.setEncoding("utf8").on("data", (text: string) => {
    written += text;
  });
  const streams = { stdin: new PassThrough(), stdout, stderr: stdout, env: { NO_COLOR: "1" }, platform: "linux" };
  const screen = new Screen(new Terminal(streams));
  screen.paint("one\ntwo");
  stdout.read();
  expect(written).toBe("\n\n\n\n\n\u001b[Hone\u001b[K\ntwo\u001b[K\n\u001b[J");

  written = "";
  screen.paint(`one\n${"long".repeat(5)}\nthree\nfour\nfive`); // the second takes two rows
  stdout.read();
  expect(written).toBe(
    `\u001b[Hone\u001b[K\n${"long".repeat(5)}\u001b[K\nthree\u001b[K\n~ 2 more lines\u001b[K\n\u001b[J`,
  );
});
