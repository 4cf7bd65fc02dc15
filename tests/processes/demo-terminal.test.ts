import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/entry-points.ts";
import { runInTerminal } from "../cli/support/program.ts";

test("in a terminal, the demo serves its dashboard until Ctrl-C", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "perdure-demo-"));
  const demo = runInTerminal([], { cwd, program: join(root, "examples/demo.ts") });
  try {
    const [, url = ""] = await demo.says(/watch it at (http:\/\/127\.0\.0\.1:[\w/-]+)/);
    const found = await fetch(new URL("session", url));
    expect(await found.json()).toMatchObject({ payloads: true, operations: expect.arrayContaining(["manage"]) });
    expect((await fetch(new URL("/", url))).status).toBe(404);
    await demo.says(/go on until Ctrl-C/);
    const page = await fetch(url);
    expect([page.status, await page.text()]).toEqual([200, expect.stringMatching(/<html/i)]);
    demo.type("\u0003");
    expect(await demo.ended).toBe(0);
  } finally {
    demo.kill("SIGKILL");
    rmSync(cwd, { recursive: true });
  }
});
