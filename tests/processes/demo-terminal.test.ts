import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../../scripts/entry-points.ts";
import { runInTerminal } from "../cli/support/program.ts";

test("in a terminal, the demo serves its dashboard until Ctrl-C, to the browser that has used its link", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "perdure-demo-"));
  const demo = runInTerminal([], { cwd, program: join(root, "examples/demo.ts") });
  try {
    const [, link = ""] = await demo.says(/watch it at (http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]+)/);
    const { origin } = new URL(link);
    await demo.says(/run until Ctrl-C/);
    for (const path of [
      "/",
      "/elsewhere",
      "/dashboard/",
      "/dashboard/session",
      "/dashboard/api/stats",
      "/?token=guess",
    ]) {
      const refused = await fetch(new URL(path, origin));
      expect(refused.status, path).toBe(401);
      expect(await refused.text(), path).not.toContain("token=");
    }
    const entered = await fetch(link, { redirect: "manual" });
    const [cookie = ""] = entered.headers.get("set-cookie")?.split(";") ?? [];
    const location = new URL(entered.headers.get("location") ?? "", origin);
    const page = await fetch(location, { headers: { cookie } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringMatching(/<html/i)]);
    const session = await fetch(new URL("session", location), { headers: { cookie } });
    expect(await session.json()).toMatchObject({ payloads: true, operations: expect.arrayContaining(["manage"]) });
    expect((await fetch(link, { redirect: "manual" })).status).toBe(401); // it works once
    const again = await fetch(link, { redirect: "manual", headers: { cookie } });
    expect([again.status, again.headers.get("location")]).toEqual([303, location.pathname]);
    demo.type("\u0003");
    expect(await demo.ended).toBe(0);
  } finally {
    demo.kill("SIGKILL");
    rmSync(cwd, { recursive: true });
  }
});
