import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { perdure } from "../../src/app/perdure.ts";
import { defineHook } from "../../src/hooks/define-hook.ts";
import { postgresMigrations } from "../../src/store/postgres/index.ts";
import { sqliteMigrations } from "../../src/store/sqlite/index.ts";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { WorkflowEvent } from "../../src/workflows/define/workflow-event.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { runCommand } from "./support/run-command.ts";
import { TARGETS, useTarget } from "./support/use-targets.ts";

const directory = mkdtempSync(join(tmpdir(), "perdure-doctor-"));
afterAll(() => rmSync(directory, { recursive: true }));

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly message: string;
}

const sleeper = defineWorkflow({ name: "sleeper" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.sleep("night", "8 hours");
});
const old = defineWorkflow({ name: "old" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.sleep("night", "8 hours");
});
const later = defineHook({}, async () => {});
const breaks = defineHook({ retries: { limit: 0 } }, async () => {
  throw new Error("broken");
});

describe.each(TARGETS)("perdure doctor on $name", (target) => {
  const subject = useTarget(target);

  async function examine(...flags: readonly string[]) {
    const { code, out } = await subject.run(["doctor", "--json", ...flags]);
    const { findings } = JSON.parse(out) as { findings: readonly Finding[] };
    return { code, findings, of: (check: string) => findings.find((one) => one.check === check) };
  }

  test("finds nothing wrong where the work is done", async () => {
    const app = await subject.start({ workflows: { sleeper }, hooks: { later } });
    await app.workflows.sleeper.create();
    await waitUntil("the worker is listed", async () => (await app.workers()).length > 0 || null);

    const { code, findings, of } = await examine("--strict");

    expect(findings.filter(({ state }) => state !== "ok")).toEqual([]);
    expect(code).toBe(0);
    expect(of("versions in use")?.message).toBe("sleeper without a version: 1");
    if (!target.served) {
      const names = [
        "database",
        "schema",
        "version",
        "rights",
        "bloat",
        "workers",
        "versions",
        "due hooks",
        "due instances",
        "names",
      ];
      expect(findings.map(({ check }) => check)).toEqual(expect.arrayContaining(names));
    }
  });

  test("finds names that no worker has, and dead letters", async () => {
    const first = await subject.start({ workflows: { old }, hooks: { later, breaks }, worker: false });
    await first.workflows.old.create();
    await first.hooks.later.trigger(undefined);
    await first.hooks.breaks.trigger(undefined);
    const { namespace } = first.parts;
    const second = await subject.start({ namespace, workflows: { sleeper }, hooks: { breaks } });
    await waitUntil("the worker is listed", async () => (await second.workers()).length > 0 || null);
    await waitUntil("there is a dead letter", async () => (await second.durableHooks.statistics()).failed > 0 || null);

    const { code, of } = await examine();

    expect(code).toBe(3);
    expect(of("names")).toMatchObject({ state: "failed", message: "no living worker has old (1 instance), later" });
    expect(of("dead letters")).toMatchObject({ state: "warning", message: "1 hook has failed for good" });
  });

  test("finds work without workers", async () => {
    const app = await subject.start({ workflows: { sleeper }, worker: false });
    await app.workflows.sleeper.create();

    const { code, of } = await examine();

    expect(code).toBe(3);
    expect(of("workers")?.message).toBe("none is alive, and 1 hook or instance isn't finished");
  });
});

describe.each(ENGINES)("perdure migrate on $name", (engine) => {
  test("creates the tables, says whether they exist, and lets commands use them", async () => {
    const fixture = await engine.createEmpty();
    try {
      const database = ["--database", fixture.location];
      const before = await runCommand(["migrate", "--check", ...database]);
      expect(before).toMatchObject({ code: 3, out: expect.stringContaining("migrations are missing") });
      const refused = await runCommand(["workflows", "list", ...database]);
      expect(refused).toMatchObject({ code: 3, err: expect.stringContaining("perdure migrate") });
      const sick = await runCommand(["doctor", ...database]);
      expect(sick).toMatchObject({ code: 3, out: expect.stringContaining("schema: The database isn't up to date") });

      expect(await runCommand(["migrate", ...database])).toMatchObject({ code: 0, err: "" });

      expect((await runCommand(["migrate", "--check", ...database])).code).toBe(0);
      expect((await runCommand(["migrate", ...database])).out).toContain("is up to date");
      expect(await runCommand(["workflows", "list", ...database])).toMatchObject({ code: 0, out: "No instances.\n" });
    } finally {
      await fixture.dispose();
    }
  });
});

test("perdure migrate prints the SQL, and creates a file only with --create", async () => {
  const path = join(directory, "new.db");

  expect((await runCommand(["migrate", "--print", "postgres"])).out.trim()).toBe(postgresMigrations().trim());
  expect((await runCommand(["migrate", "--print", "--database", path])).out.trim()).toBe(sqliteMigrations().trim());
  expect((await runCommand(["migrate", "--print", "oracle"])).code).toBe(2);
  expect((await runCommand(["migrate", "--database", path])).code).toBe(4);
  expect((await runCommand(["migrate", "--create", "--database", path])).code).toBe(0);
  await using app = await perdure({ database: path, worker: false });
  expect((await app.health()).checks.schema.ok).toBe(true);
});
