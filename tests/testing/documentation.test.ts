import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const repository = fileURLToPath(new URL("../../", import.meta.url));
const execute = promisify(execFile);

/** Runs it and gives what it says, also in the error if it fails. */
async function run(parameters: string[], options: { env?: NodeJS.ProcessEnv } = {}): Promise<string> {
  const ran = execute(process.execPath, parameters, { cwd: directory, ...options });
  const { stdout } = await ran.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  return stdout;
}

/** What users import, and where it is before it is built. */
const ENTRIES = {
  perdure: join(repository, "src/index.ts"),
  "perdure/testing": join(repository, "src/testing/index.ts"),
};

let directory = "";
let examples: string[] = [];

/** Each example of the documentation becomes a file that node:test runs. */
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "perdure-documentation-"));
  const text = await readFile(join(repository, "docs/testing.md"), "utf8");
  const programs = Array.from(text.matchAll(/^```ts\n(.*?)^```/gms), ([, program]) => program as string);
  examples = programs.map((_program, index) => join(directory, `example-${index + 1}.test.ts`));
  for (const [index, program] of programs.entries()) await writeFile(examples[index] as string, program);
  await writeFile(join(directory, "package.json"), JSON.stringify({ type: "module" }));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

test("the examples pass in node:test, where there is no other test runner", async () => {
  const resolver = join(directory, "resolve.mjs");
  const urls = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, `file://${path}`]));
  await writeFile(
    resolver,
    `import { registerHooks } from "node:module";
    const urls = ${JSON.stringify(urls)};
    registerHooks({ resolve: (name, context, next) => next(urls[name] ?? name, context) });`,
  );
  const flags = ["--test", "--test-isolation=none", "--test-reporter=tap", "--import", resolver];
  const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const report = await run([...flags, ...examples], { env });
  expect(examples.length).toBeGreaterThan(3);
  expect(report).toContain(`# pass ${examples.length}`);
  expect(report).toContain("# fail 0");
});

test("the types of the examples hold", async () => {
  const configuration = {
    extends: join(repository, "tsconfig.json"),
    compilerOptions: {
      paths: Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, [path]])),
      typeRoots: [join(repository, "node_modules/@types")],
      types: ["node"],
    },
    include: ["*.test.ts"],
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify(configuration));
  const compiler = join(repository, "node_modules/@typescript/native/bin/tsc");
  expect(await run([compiler, "-p", directory])).toBe("");
});
