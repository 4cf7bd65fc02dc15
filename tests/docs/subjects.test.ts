import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile } from "./support/compile.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const execute = promisify(execFile);

const ENTRIES = { perdure: join(root, "src/index.ts"), "perdure/flo": join(root, "src/flo/index.ts") };

/** What the samples take for granted. */
const GIVEN = `
import { perdure } from "perdure";
export const listWarehouses = async () => [{ id: "cn-shenzhen" }, { id: "de-hamburg" }];
export const importPage = async (_id: string | undefined, page: number, _signal: AbortSignal) => page < 3;
export const createApp = () => perdure({ database: ":memory:" });
`;

let directory: string;
let count = 0;

/** The samples, each as a module of its own: its imports, what it takes for granted, and the rest as a function. */
beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/docs/samples-"));
  await writeFile(join(directory, "given.ts"), GIVEN);
  const text = await readFile(join(root, "docs/subjects.md"), "utf8");
  const samples = Array.from(text.matchAll(/```ts\n([\s\S]*?)```/g), ([, sample]) => sample as string);
  count = samples.length;
  for (const [index, sample] of samples.entries()) {
    await writeFile(join(directory, `sample-${index + 1}.ts`), toModule(sample));
  }
});

afterAll(() => rm(directory, { recursive: true, force: true }));

function toModule(sample: string): string {
  const imports = sample.match(/^import .*$/gm) ?? [];
  const body = sample.replaceAll(/^import .*$/gm, "");
  const needsApp = body.includes("app.subjects") && !body.includes("await perdure(");
  return [
    ...imports,
    'import { createApp, importPage, listWarehouses } from "./given.ts";',
    "export async function sample(): Promise<unknown> {",
    needsApp ? "await using app = await createApp();" : "",
    body,
    // What the first sample sets up runs by itself: it is done when both warehouses are.
    body.includes("subjects: { inventory }") ? WAIT : "",
    body.includes("importStock") ? "return importStock;" : "return undefined;",
    "}",
  ].join("\n");
}

const WAIT = `
const subjects = app.subjects.dispatcher("inventory");
for (let done = 0; done < 2; ) {
  const page = await subjects.listSubjects();
  done = page.subjects.filter(({ lastSuccessAt }) => lastSuccessAt !== null).length;
  await new Promise((resolve) => setTimeout(resolve, 10));
}`;

test("every sample in docs/subjects.md is accepted by the compiler", async () => {
  expect(count).toBeGreaterThan(5);
  expect(await compile(directory, ENTRIES)).toBe("");
}, 60_000);

test("every sample in docs/subjects.md runs", async () => {
  const given = GIVEN.replace('from "perdure"', `from ${JSON.stringify(ENTRIES.perdure)}`);
  await writeFile(join(directory, "given.ts"), given);
  for (let index = 1; index <= count; index++) {
    const sample = await readFile(join(directory, `sample-${index}.ts`), "utf8");
    const linked = Object.entries(ENTRIES).reduce(
      (text, [name, path]) => text.replaceAll(`from "${name}"`, `from ${JSON.stringify(path)}`),
      sample.replaceAll('"app.db"', JSON.stringify(join(directory, `app-${index}.db`))),
    );
    await writeFile(join(directory, `run-${index}.ts`), `${linked}\nawait sample();\n`);
    await execute(process.execPath, ["--no-warnings", join(directory, `run-${index}.ts`)]);
  }
}, 60_000);
