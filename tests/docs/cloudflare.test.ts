import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** What samples take for granted. */
const GIVEN = `
import { defineFragment, defineHook, defineWorkflow } from "perdure";
declare global {
  interface Env { SHOP: DurableObjectNamespace }
}
export const orders = defineFragment<undefined>("orders").provideHooks(() => ({ placed: defineHook({}, async () => {}) })).build();
export const checkout = defineWorkflow({ name: "checkout" }, async (event: { payload: { total: number } }) => event.payload.total);
export const sendMail = defineHook({}, async (_mail: { to: string }) => {});
`;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/docs/samples-"));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

/** With Cloudflare's own types instead of Node's: so it also shows that ours go together with those. */
test("every sample in docs/cloudflare.md is accepted by the compiler", async () => {
  const text = await readFile(join(root, "docs/cloudflare.md"), "utf8");
  const samples = Array.from(text.matchAll(/```ts\n([\s\S]*?)```/g), (match) => match[1] as string);
  expect(samples.length).toBeGreaterThan(0);
  await writeFile(join(directory, "given.ts"), GIVEN);
  for (const [index, sample] of samples.entries()) {
    const given = ["orders", "checkout", "sendMail"].filter((name) => new RegExp(`\\b${name}\\b`).test(sample));
    const imports = given.length === 0 ? "" : `import { ${given.join(", ")} } from "./given.ts";\n`;
    await writeFile(join(directory, `sample-${index}.ts`), `${imports}${sample}`);
  }
  const compilerOptions = {
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    skipLibCheck: true,
    module: "esnext",
    moduleResolution: "bundler",
    target: "esnext",
    lib: ["esnext"],
    types: ["@cloudflare/workers-types"],
    allowImportingTsExtensions: true,
    paths: {
      perdure: [join(root, "src/index.ts")],
      "perdure/durable-object": [join(root, "src/durable-object/index.ts")],
      "perdure/dispatchers/cloudflare-do": [join(root, "src/dispatchers/cloudflare-do.ts")],
    },
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const { stdout } = await run(join(root, "node_modules/.bin/tsc"), ["-p", directory]).catch(
    (error: { stdout: string }) => error,
  );
  const ours = stdout.split("\n").filter((line) => line.startsWith("tests/docs/") || line.includes("durable-object"));
  expect(ours).toEqual([]);
}, 60_000);
