import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import * as ours from "../../src/cloudflare/index.ts";

/** Files import types without saying so, and Node only strips what says that it is one: so every name must be there. */
test("every name of Cloudflare's modules exists, types included", async () => {
  const text = await readFile(new URL(import.meta.resolve("@cloudflare/workers-types/index.d.ts")), "utf8");
  const modules = ["declare namespace CloudflareWorkersModule {", 'declare module "cloudflare:workflows" {'];
  const names = modules.flatMap((start) => {
    const [body = ""] = text.slice(text.indexOf(start)).split("\n}\n");
    return Array.from(
      body.matchAll(/^ {2}export (?:type|const|function|abstract class|class|interface) (\w+)/gm),
      (match) => match[1] as string,
    );
  });

  expect(names).toEqual(expect.arrayContaining(["WorkflowEntrypoint", "NonRetryableError", "WorkflowSleepDuration"]));
  expect(names.filter((name) => !(name in ours))).toEqual([]);
});
