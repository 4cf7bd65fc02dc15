import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { root } from "../../scripts/entry-points.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { WorkflowEvent } from "../../src/workflows/define/workflow-event.ts";
import { waitUntil } from "../support/wait-until.ts";
import { runCommand } from "./support/run-command.ts";
import { TARGETS, useTarget } from "./support/use-targets.ts";

const directory = mkdtempSync(join(tmpdir(), "perdure-histories-"));
afterAll(() => rmSync(directory, { recursive: true }));

const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<{ at: Date }>, step) => {
  const year = await step.do("charge", async () => event.payload.at.getUTCFullYear());
  await step.waitForEvent("approval", { type: "approved" });
  return step.do("ship", async () => year);
});

/** The same workflow in a module, with these steps. */
function writeModule(name: string, ...steps: readonly string[]): string {
  const file = join(directory, `${name}.mjs`);
  const text = `import { defineWorkflow } from "${join(root, "src/index.ts")}";
    const order = defineWorkflow({ name: "order" }, async (event, step) => { ${steps.join("\n")} });
    export default { database: "never-opened.db", workflows: { order } };`;
  writeFileSync(file, text);
  return file;
}

const CHARGE = 'const year = await step.do("charge", async () => { throw new Error("no step runs"); });';
const APPROVAL = 'await step.waitForEvent("approval", { type: "approved" });';
const SHIP = 'return step.do("ship", async () => event.payload.at.getUTCFullYear() + year);';

const fitting = writeModule("fitting", CHARGE, APPROVAL, SHIP);
const extended = writeModule(
  "extended",
  CHARGE,
  APPROVAL,
  SHIP.replace("return", "await"),
  'await step.sleep("rest", "1 day");',
);
const renamed = writeModule("renamed", CHARGE.replace('"charge"', '"pay"'), APPROVAL, SHIP);

describe.each(TARGETS)("histories on $name", (target) => {
  const subject = useTarget(target);

  async function setUp() {
    const app = await subject.start({ workflows: { order } });
    const instance = await app.workflows.order.create({ id: "one", params: { at: new Date("2026-01-31T00:00:00Z") } });
    await waitUntil("it waits", async () => (await instance.status()).status === "waiting" || null);
    return { app, instance };
  }

  test("an exported history is replayed with other code, which runs no step", async () => {
    await setUp();
    const file = join(directory, `${target.name.replace(" ", "-")}.json`);

    const exported = await subject.run(["export", "order/one", "--output", file]);
    expect(exported).toMatchObject({ code: 0, out: `2 entries written to ${file}\n` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
      format: "perdure-history/1",
      run: 1,
      params: { at: { $perdure: "Date", value: "2026-01-31T00:00:00.000Z" } },
      instance: { id: "one", workflowName: "order", status: "waiting" },
    });
    const same = await runCommand(["replay", file, fitting]);
    expect(same).toMatchObject({ code: 0, err: "" });
    expect(same.out).toMatch(
      /^ok The code fits the history\.\noutcome: +continues\nwould do next: +waitForEvent:approval\n/,
    );
    const other = await runCommand(["replay", file, renamed, "--json"]);
    expect(other.code).toBe(3);
    expect(JSON.parse(other.out)).toMatchObject({
      repeated: ["do:pay"],
      unreached: ["do:charge", "waitForEvent:approval"],
    });
  });

  test("a finished instance is replayed from where it is stored", async () => {
    const { instance } = await setUp();
    await instance.sendEvent({ type: "approved" });
    expect(await instance.result()).toBe(2026);

    const same = await subject.run(["replay", "order/one", fitting, "--json"]);
    expect(JSON.parse(same.out)).toMatchObject({ outcome: "complete", output: 2026, next: [] });
    const longer = await subject.run(["replay", "order/one", extended]);
    expect(longer).toMatchObject({ code: 0, out: expect.stringMatching(/would do next: +sleep:rest/) });
    expect((await subject.run(["replay", "order/none", fitting])).code).toBe(4);
  });

  test("a tail of one instance ends with it, and tells programs everything", async () => {
    const { instance } = await setUp();
    const told = subject.run("tail order/one --from-start --json");
    await instance.sendEvent({ type: "approved" });

    const { code, out } = await told;

    expect(code).toBe(0);
    const events = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string });
    expect(events.at(0)).toMatchObject({ type: "workflow_queued", workflowName: "order", id: "one" });
    expect(events.at(-1)).toMatchObject({ type: "workflow_completed" });
    const again = await subject.run("tail order/one");
    expect(again.out).toMatch(
      /^\d\d:\d\d:\d\d {2}order\/one {2}started\n(.*\n)* .*completed\n$|order\/one {2}completed\n$/,
    );
  });

  test("a tail of all follows what is there and what is new, until it is interrupted", async () => {
    const { app, instance } = await setUp();
    const interrupted = new AbortController();
    let out = "";
    const onOut = (text: string) => {
      out += text;
    };
    const { promise: begun, resolve: begins } = Promise.withResolvers<void>();
    const ended = subject.run("tail", { signal: interrupted.signal, onOut, onErr: () => begins() });
    try {
      await begun;
      await app.workflows.order.create({ id: "two", params: { at: new Date() } });
      await waitUntil("it tells of the new one", () => /order\/two {2}step completed {2}charge/.test(out));
      await instance.sendEvent({ type: "approved" });
      await waitUntil("it tells of the end", () => /order\/one {2}completed/.test(out));
    } finally {
      interrupted.abort();
    }

    expect((await ended).code).toBe(0);
    expect(out).not.toMatch(/order\/one {2}step completed {2}charge/); // that was before
  });
});

test("a file that isn't an exported history is refused, and none is overwritten", async () => {
  const file = join(directory, "other.json");
  writeFileSync(file, "[]");

  expect(await runCommand(["replay", file, fitting])).toMatchObject({
    code: 2,
    err: expect.stringContaining("perdure export"),
  });
  writeFileSync(file, "no json");
  expect((await runCommand(["replay", file, fitting])).code).toBe(2);
});
