import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

/** What samples take for granted, each with the type that a reader would expect. */
const ASSUMED = `
import type pg from "pg";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import * as library from "perdure";
interface Order { id: string; email: string }
interface Mail { to: string; text: string }
interface Mailer { send(to: unknown, options: { idempotencyKey: string; signal: AbortSignal }): Promise<void> }
declare const order: Order, page: { id: string }, mail: Mailer & Mail, mailer: Mailer, tomorrow: Date, client: pg.Client;
declare const logger: library.Logger;
declare const payments: { charge(order: Order, options: { idempotencyKey: string; signal: AbortSignal }): Promise<void> };
declare const Order: StandardSchemaV1<Order>, OrderPlaced: StandardSchemaV1<Order>, ordersTables: library.FragmentTables;
const definitions = {
  sendMail: library.defineHook({}, async (_mail: Mail) => {}),
  reindex: library.defineHook({}, async (_page: { id: string }) => {}),
  charge: library.defineHook({}, async (_order: Order) => {}),
};
declare const application: library.Application<typeof definitions>;
`;

/** What a sample uses without declaring or importing it. */
const GIVEN = {
  app: "application",
  sendMail: "definitions.sendMail",
  reindex: "definitions.reindex",
  defineHook: "library.defineHook",
  perdure: "library.perdure",
};

/** Codes as they are given to errors, to signals, and to the checks of schemas. */
const CODES = /(?:Error\(|super\(|#stop\(|code: |, )\s*"([a-z]+\.[a-z_]+)"/g;

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/docs/samples-"));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

async function samplesOf(document: string): Promise<string[]> {
  const text = await readFile(join(root, document), "utf8");
  return Array.from(text.matchAll(/```ts\n([\s\S]*?)```/g), (match) => match[1] as string);
}

/** A sample as a module: its own imports, what it takes for granted and doesn't declare itself, and the rest as a function. */
function toModule(sample: string): string {
  const imports = sample.match(/^import .*$/gm) ?? [];
  const body = sample.replaceAll(/^import .*$/gm, "");
  const declared = (name: string) => new RegExp(`(const|using) ${name}\\b`).test(body);
  const imported = (name: string) => imports.some((line) => new RegExp(`\\b${name}\\b.* from`).test(line));
  const given = Object.entries(GIVEN).filter(([name]) => !declared(name) && !imported(name));
  return [
    ...imports,
    ASSUMED,
    "export async function sample() {",
    ...given.map(([name, value]) => `const ${name} = ${value};`),
    body,
    "}",
  ].join("\n");
}

test("every sample in README.md, docs/hooks.md and docs/encryption.md is accepted by the compiler", async () => {
  const documents = ["README.md", "docs/hooks.md", "docs/encryption.md"];
  const samples = (await Promise.all(documents.map(samplesOf))).flat();
  expect(samples.length).toBeGreaterThan(5);
  for (const [index, sample] of samples.entries()) {
    await writeFile(join(directory, `sample-${index}.ts`), toModule(sample));
  }
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    noEmit: true,
    skipLibCheck: true,
    module: "nodenext",
    target: "esnext",
    types: ["node"],
    allowImportingTsExtensions: true,
    paths: {
      perdure: [join(root, "src/index.ts")],
      "perdure/dispatchers/node": [join(root, "src/dispatchers/node.ts")],
      "perdure/sqlite": [join(root, "src/store/sqlite/index.ts")],
      "perdure/postgres": [join(root, "src/store/postgres/index.ts")],
    },
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const { stdout } = await run(join(root, "node_modules/.bin/tsc"), ["-p", directory]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
}, 60_000);

test("every error code in the sources is explained in docs/", async () => {
  const documents = globSync("docs/*.md", { cwd: root });
  const explained = (await Promise.all(documents.map((name) => readFile(join(root, name), "utf8")))).join("\n");
  const codes = new Set<string>();
  for (const file of globSync("src/**/*.ts", { cwd: root })) {
    if (file.endsWith(".test.ts")) continue;
    const text = await readFile(join(root, file), "utf8");
    for (const [, code] of text.matchAll(CODES)) codes.add(code as string);
  }
  expect(codes.size).toBeGreaterThan(20);
  expect([...codes].filter((code) => !explained.includes(`\`${code}\``))).toEqual([]);
});
