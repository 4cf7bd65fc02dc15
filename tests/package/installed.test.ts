import { execFile } from "node:child_process";
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { entryPoints, root } from "../../scripts/entry-points.ts";
import { installPackage } from "../support/install-package.ts";

const execute = promisify(execFile);

let project: string;

beforeAll(async () => {
  ({ project } = await installPackage(["@types/node", "undici-types", "@cloudflare/workers-types"]));
});

async function run(version: string, ...parameters: string[]): Promise<string> {
  const { NODE_OPTIONS: _options, ...env } = process.env;
  const node = join(root, "node_modules", version, "bin/node");
  const { stdout } = await execute(node, parameters, { cwd: project, env }).catch(
    (error: { stdout: string; stderr: string }) => {
      throw new Error(`${error.stdout}\n${error.stderr}`);
    },
  );
  return stdout;
}

test("the stack of an error leads to our sources, with the line itself", async () => {
  const program = `import { defineHook } from "perdure";
    try { defineHook(5); } catch (error) { console.log(error.stack); }
    await Promise.reject(defineHook(5));`;
  await writeFile(join(project, "mistake.mjs"), program);

  const failed = run("node", "--enable-source-maps", "mistake.mjs");

  await expect(failed).rejects.toThrow(/at defineHook \(.*\/src\/hooks\/define-hook\.ts:\d+:\d+\)/);
  await expect(failed).rejects.toThrow(/src\/hooks\/define-hook\.ts:\d+\n.*throw new InvalidInputError\(/);
});

test("the types of every entry point hold in a project that checks its libraries, too", async () => {
  const imports = entryPoints.map(({ specifier }) => `import "${specifier}";`).join("\n");
  await writeFile(join(project, "all.ts"), imports);
  const compilerOptions = {
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    types: ["node", "./cloudflare.d.ts"],
  };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["all.ts"] }));
  await writeFile(join(project, "cloudflare.d.ts"), CLOUDFLARE);

  expect(await run("node", join(root, "node_modules/@typescript/native/bin/tsc"), "-p", project)).toBe("");
});

test("README.md's program compiles in a strict project with an older library and without the types of Node", async () => {
  const readme = await readFile(join(root, "README.md"), "utf8");
  await writeFile(join(project, "checkout.mts"), /```ts\n(.*?)```/s.exec(readme)?.[1] ?? "");
  const compilerOptions = {
    module: "nodenext",
    target: "es2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    noEmit: true,
    types: [],
  };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["checkout.mts"] }));

  expect(await run("node", join(root, "node_modules/@typescript/native/bin/tsc"), "-p", project)).toBe("");
});

/** All of Cloudflare's types contradict those of Node; this is the one that ours refer to. */
const CLOUDFLARE = `declare module "cloudflare:workers" {
  export class DurableObject<Env = unknown> { constructor(ctx: unknown, env: Env); }
}`;

describe("perdure/register", () => {
  // The oldest Node loads the resolver in a thread of its own.
  test.each(["node", "node-22-oldest"])("runs a file that is written for Cloudflare on %s", async (version) => {
    await writeFile(
      join(project, "worker.mjs"),
      `import { WorkflowEntrypoint } from "cloudflare:workers";
      import { NonRetryableError } from "cloudflare:workflows";
      import { EmailMessage } from "cloudflare:email";
      import { connect } from "cloudflare:sockets";
      import * as perdure from "perdure";
      const same = NonRetryableError === perdure.NonRetryableError && WorkflowEntrypoint === perdure.WorkflowEntrypoint;
      console.log(same, typeof EmailMessage, typeof connect);`,
    );

    expect(await run(version, "--import", "perdure/register", "worker.mjs")).toBe("true function function\n");
  });

  test("lets a file import another without an extension", async () => {
    await cp(join(root, "tests/cloudflare/programs/extensionless"), join(project, "program"), { recursive: true });
    const program = `const { default: worker } = await import("./program/index.ts"); console.log(typeof worker.fetch);`;
    await writeFile(join(project, "run.mjs"), program);

    expect(await run("node", "--import", "perdure/register", "run.mjs")).toBe("function\n");
  });
});
