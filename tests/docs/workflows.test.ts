import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile } from "./support/compile.ts";
import { root, SAMPLES, samplesOf } from "./support/samples.ts";

const execute = promisify(execFile);

const ENTRIES = {
  perdure: join(root, "src/index.ts"),
  "perdure/sqlite": join(root, "src/store/sqlite/index.ts"),
  "perdure/testing": join(root, "src/testing/index.ts"),
};

/** What the samples take for granted. */
const GIVEN = `
import * as library from "perdure";
import { createTestApp } from "perdure/testing";
export interface Order { id: string; email: string; total: number }
export const order: Order = { id: "order-1", email: "ada@example.org", total: 12 };
export const payments = { charge: async (_order: Order, _key: string) => ({ id: "charge-1" }) };
export const mailer = { send: async (_to: string, _text: string): Promise<void> => {} };

const checkout = library.defineWorkflow({ name: "checkout" }, async (_event: library.WorkflowEvent<Order>, step) => {
  const { payload } = await step.waitForEvent<{ by: string }>("approval", { type: "approved" });
  return payload;
});
export const createApp = () => library.perdure({ database: ":memory:", workflows: { checkout } });

/** Runs workflows to their ends, with an order for their params and an approval for those that wait for one. */
export async function runToTheEnd(workflows: library.Workflows): Promise<void> {
  await using app = await createTestApp({ workflows });
  for (const [key, workflow] of Object.entries(app.workflows)) {
    const instance = await workflow.create({ params: key === "receipt" ? { charge: "charge-1" } : order });
    await app.advance("1 second");
    if ((await instance.status()).finishedAt === null) {
      await instance.sendEvent({ type: "approved", payload: { by: "Ada" } } as never);
    }
    for (let day = 0; day < 60 && (await instance.status()).finishedAt === null; day++) await app.advance("1 day");
    const { status, error } = await instance.status();
    if (status !== "complete") throw new Error(key + " is " + status + ": " + JSON.stringify(error));
  }
}
`;

let directory: string;
let count = 0;

/** The samples, each as a module of its own: its imports, what it takes for granted, and the rest as a function. */
beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/docs/samples-"));
  await writeFile(join(directory, "given.ts"), GIVEN);
  const samples = SAMPLES["tests/docs/workflows.test.ts"].flatMap(samplesOf);
  count = samples.length;
  for (const [index, sample] of samples.entries()) {
    await writeFile(join(directory, `sample-${index + 1}.ts`), toModule(sample));
  }
});

afterAll(() => rm(directory, { recursive: true, force: true }));

function toModule(sample: string): string {
  const imports = sample.match(/^import .*$/gm) ?? [];
  const body = sample.replaceAll(/^import .*$/gm, "");
  const runsItself = body.includes("await perdure(");
  const defined = Array.from(body.matchAll(/^const (\w+) = defineWorkflow\(/gm), ([, name]) => name as string);
  const missing = ["defineWorkflow", "perdure", "type WorkflowEvent"].filter(
    (name) => !imports.some((line) => line.split(" from ")[0]?.includes(name)),
  );
  return [
    ...imports,
    missing.length === 0 ? "" : `import { ${missing.join(", ")} } from "perdure";`,
    'import { createApp, mailer, type Order, order, payments, runToTheEnd } from "./given.ts";',
    "export async function sample() {",
    body.includes("app.workflows") && !runsItself ? "await using app = await createApp();" : "",
    body,
    runsItself || defined.length === 0 ? "" : `await runToTheEnd({ ${defined.join(", ")} });`,
    "}",
  ].join("\n");
}

test("every sample of the pages on workflows is accepted by the compiler", async () => {
  expect(await compile(directory, ENTRIES)).toBe("");
});

test("every sample of the pages on workflows runs to its end", async () => {
  const urls = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, `file://${path}`]));
  const resolver = join(directory, "resolve.mjs");
  const runner = join(directory, "run.mjs");
  await mkdir(join(directory, "work"));
  await writeFile(
    resolver,
    `import { registerHooks } from "node:module";
    const urls = ${JSON.stringify(urls)};
    registerHooks({ resolve: (name, context, next) => next(urls[name] ?? name, context) });`,
  );
  await writeFile(
    runner,
    `for (let index = 1; index <= ${count}; index++) {
      const { sample } = await import(\`./sample-\${index}.ts\`);
      await sample().catch((error) => { throw new Error("sample " + index, { cause: error }); });
      console.log("ran " + index);
    }`,
  );
  const ran = execute(process.execPath, ["--import", resolver, runner], { cwd: join(directory, "work") });
  const { stdout } = await ran.catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}\n${error.stderr}`);
  });
  expect(count).toBeGreaterThan(10);
  expect(stdout).toContain(`ran ${count}`);
  expect(stdout).toContain("{ charge: 'charge-1', approvedBy: 'Ada' }");
  const versioned =
    "[ [ 2, 1 ], [ null, 1 ] ]\nold shipped\nnew shipped from the reservation\n[ [ 2, 0 ], [ null, 0 ] ]";
  for (const printed of ["{ words: 5, failed: 1 }", "200 409 approved", "cancelled by Ada", versioned]) {
    expect(stdout).toContain(printed);
  }
});
