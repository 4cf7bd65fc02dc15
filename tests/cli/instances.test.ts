import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/workflows/define/define-workflow.ts";
import type { WorkflowEvent } from "../../src/workflows/define/workflow-event.ts";
import { waitUntil } from "../support/wait-until.ts";
import { runCommand } from "./support/run-command.ts";
import { TARGETS, useTarget } from "./support/use-targets.ts";

const approval = defineWorkflow({ name: "approval" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.do("ask", async () => "asked");
  return (await step.waitForEvent<unknown>("answer", { type: "approved" })).payload;
});
const failing = defineWorkflow({ name: "failing" }, async (_event: WorkflowEvent<unknown>, step) => {
  await step.do("try", { retries: { limit: 0, delay: 0 } }, async () => {
    throw new TypeError("no\u001b[2J way");
  });
});

describe.each(TARGETS)("commands about instances on $name", (target) => {
  const subject = useTarget(target);

  async function setUp() {
    const app = await subject.start({ workflows: { approval, failing } });
    for (const id of ["one", "two"]) await app.workflows.approval.create({ id, labels: { tenant: "acme" } });
    await (await app.workflows.failing.create({ id: "bad" })).result().catch(() => {});
    const becomes = (id: string, status: string) =>
      waitUntil(`${id} is ${status}`, async () => {
        const state = await (await app.workflows.approval.get(id)).status();
        return state.status === status || null;
      });
    for (const id of ["one", "two"]) await becomes(id, "waiting");
    return { app, becomes };
  }

  test("list, count and show them, without control characters of users", async () => {
    await setUp();

    const list = await subject.run("workflows list");
    expect(list).toMatchObject({ code: 0, err: "" });
    expect(list.out).toMatch(/^INSTANCE +STATUS .*\n(.*\n)*approval\/two +waiting/);
    expect(list.out).toContain(String.raw`TypeError: no\x1b[2J way`);
    const filtered = await subject.run("workflows list --status waiting --label tenant=acme --limit 1 --json");
    const page = JSON.parse(filtered.out) as { instances: { id: string }[]; cursor: string };
    expect(page.instances).toMatchObject([{ id: "two", status: "waiting" }]);
    const next = await subject.run(`workflows list approval --cursor ${page.cursor}`);
    expect(next.out).toMatch(/^INSTANCE.*\napproval\/one .*\n$/);
    expect((await subject.run("workflows list --error WAY --id-prefix b")).out).toMatch(
      /^INSTANCE.*\nfailing\/bad .*\n$/,
    );
    expect((await subject.run("workflows list --step ask --id-prefix o")).out).toMatch(
      /^INSTANCE.*\napproval\/one .*\n$/,
    );
    expect((await subject.run("workflows list --parent approval/one")).out).toBe("No instances.\n");
    const counts = await subject.run("workflows counts --json");
    expect(JSON.parse(counts.out)).toMatchObject({ workflows: { approval: { waiting: 2 }, failing: { errored: 1 } } });
    const shown = await subject.run("workflows show approval/one");
    expect(shown.out).toMatch(/status: +waiting\nwhy: +The instance has waited for the event "approved"/);
    expect(shown.out).toMatch(/^ask +#.* m?s$/m);
    expect((await subject.run("explain approval/one")).out).toMatch(/^The instance has waited for the event/);
    expect((await subject.run("workflows history approval/one")).out).toMatch(/do:ask +completed +1 +'asked'/);
    expect((await subject.run("workflows versions approval")).out).toMatch(/none +2 /);
  });

  test("pause, resume, send, restart and delete them", async () => {
    const { app, becomes } = await setUp();

    expect((await subject.run("workflows pause approval/one approval/two")).out).toContain("ok approval/one paused\n");
    await becomes("two", "paused");
    await subject.run("workflows resume --label tenant=acme --yes");
    await becomes("one", "waiting");
    const sent = await subject.run(["workflows", "send", "approval/one", "approved", '{"by":["ann"]}']);
    expect(sent).toMatchObject({ code: 0, out: "approved sent to approval/one\n" });
    expect(await subject.run("workflows result approval/one --json")).toMatchObject({ out: '{"by":["ann"]}\n' });
    expect((await subject.run("workflows restart approval/one --from waitForEvent:answer --yes")).code).toBe(0);
    expect((await (await app.workflows.approval.get("one")).status()).run).toBe(2);
    const all = await subject.run(["workflows", "send", "approval", "approved", "-", "--label", "tenant=acme"], {
      input: '"yes"',
    });
    expect(all.out).toBe("2 have it; 0 take no more events now.\n");
    await becomes("two", "complete");
    expect((await subject.run("workflows delete approval/two --yes")).code).toBe(0);
    expect((await subject.run("workflows show approval/two")).code).toBe(4);
  });

  test("act on all that match: after a dry run, after consent, and on the others if one fails", async () => {
    const { app } = await setUp();

    const dry = await subject.run("workflows terminate --workflow approval --dry-run");
    expect(dry).toMatchObject({ code: 0, out: "2 instances would be terminated.\n" });
    const unasked = await subject.run("workflows terminate --workflow approval");
    expect(unasked.code).toBe(2);
    expect(unasked.err).toContain("Pass --yes to do it without a question.");
    expect((await app.instances.counts()).total.waiting).toBe(2);
    const partly = await subject.run("workflows retry failing/bad approval/one approval/none --json");
    expect(partly.code).toBe(8);
    expect(JSON.parse(partly.out)).toEqual({
      outcomes: expect.arrayContaining([
        { target: "failing/bad", ok: true },
        expect.objectContaining({ target: "approval/one", code: "instance.not_errored" }),
        expect.objectContaining({ target: "approval/none", code: "instance.not_found" }),
      ]),
    });
    expect((await subject.run("workflows terminate --workflow approval --yes")).code).toBe(0);
    expect((await app.instances.counts()).workflows["approval"]).toMatchObject({ terminated: 2 });
    expect((await subject.run("workflows pause approval/one")).code).toBe(5);
    for (const action of ["pause", "resume", "terminate"]) {
      expect((await subject.run(`workflows ${action} --all --yes`)).out, action).toBe("No instance matches.\n");
    }
    expect((await subject.run("workflows retry --all --dry-run")).out).toBe("1 instance would be retried.\n");
    expect((await subject.run("workflows pause --status complete --yes")).out).toBe("No instance matches.\n");
    expect((await subject.run("workflows delete --yes")).err).toContain("For all instances: --all.");
  });

  test("create them where the code is, and say what to do elsewhere", async () => {
    const { app } = await setUp();

    const created = await subject.run('workflows create approval {"total":12} --id three --label tenant=b');

    if (target.served) {
      expect(created).toMatchObject({ code: 0, out: "approval/three\n" });
      expect((await (await app.workflows.approval.get("three")).status()).labels).toEqual({ tenant: "b" });
    } else {
      expect(created.code).toBe(4);
      expect(created.err).toContain(
        "What creates instances needs the code: pass it with --app app.ts, or use --server.",
      );
    }
  });
});

describe("a command line that is wrong", () => {
  const database = ["--database", "nothing.db"];

  test.each([
    [["workflows", "lst", ...database], 2, /Did you mean list/],
    [["workflows", "list"], 2, /Pass --database app\.db/],
    [["workflows", "list", ...database], 4, /There is no file nothing\.db.*\n.*perdure migrate --create/],
    [["workflows", "list", ...database, "--server", "http://x"], 2, /exclude each other/],
    [["workflows", "list", "--limit", "0", ...database], 4, /no file/],
    [["workflows", "show", "order-1", ...database], 2, /as in checkout\/order-1/],
    [["workflows", "pause", "a/b", "--status", "lost", ...database], 2, /Allowed choices/],
    [["workflows", "list", "--server", "http://127.0.0.1:1"], 6, /can't be reached.*\n.*Check the address/],
    [["hooks", "redrive", ...database], 2, /Name hooks/],
    [["migrate", "--server", "http://x"], 2, /migrates its own database/],
    [["replay", "nothing.json", "nothing.ts"], 2, /as in checkout\/order-1/],
  ])("%j ends with code %i, and says what to do", async (parameters, code, message) => {
    const result = await runCommand(parameters as string[]);

    expect(result).toMatchObject({ code, out: "" });
    expect(result.err).toMatch(message as RegExp);
  });

  test("never shows the secrets of URLs and tokens", async () => {
    const database = "postgres://ann:s3cr%21et-word@127.0.0.1:1/app?sslpassword=other-word";
    const failed = await runCommand(["doctor", "--database", database]);
    expect(failed.code).toBe(3);
    const wrong = await runCommand(["workflows", "list", "--server", "http://ann:s3cr%21et-word@127.0.0.1:1"]);
    const all = [failed, wrong].flatMap(({ out, err }) => [out, err]).join("\n");
    expect(all).toContain("postgres://ann@127.0.0.1:1/app");
    expect(all).not.toMatch(/s3cr|other-word/);
  });
});
