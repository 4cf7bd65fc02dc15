import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DOCUMENTS, readDocument, root, SAMPLES, samplesOf } from "./support/samples.ts";

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
interface Page { id: string }
declare const search: { index(pages: readonly Page[]): Promise<readonly { position: number; reason: string }[]> };
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
  charge: "definitions.charge",
  checkout: 'library.defineWorkflow({ name: "checkout" }, async () => {})',
  defineHook: "library.defineHook",
  perdure: "library.perdure",
};

/** What Prisma would generate. */
const PRISMA_CLIENT = `
interface Transaction {
  readonly order: { create(request: { data: { id: string } }): Promise<unknown> };
  $queryRawUnsafe(text: string, ...parameters: unknown[]): Promise<unknown>;
}
export declare class PrismaClient {
  readonly booking: { create(request: { data: { seat: string } }): Promise<unknown> };
  constructor(options: { adapter: unknown });
  $transaction<Result>(body: (tx: Transaction) => Promise<Result>): Promise<Result>;
}
`;

/** Texts in the sources that look like codes: names of columns, fields, options and files. */
const NOT_CODES = [
  "app.db",
  "app.js",
  "app.mjs",
  "app.ts",
  "clock.now",
  "clock.open",
  "concurrency.hooks",
  "concurrency.workflows",
  "dev.json",
  "event.payload",
  "flo.configure",
  "hook.error",
  "hook.payload",
  "instance.created_at",
  "instance.finished_at",
  "instance.params",
  "journal.value",
  "package.json",
  "perdure.transaction",
  "retries.delay",
  "step.do",
  "step.transaction",
  "stream_chunk.data",
  "walk.group_key",
];

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/docs/samples-"));
});

afterAll(() => rm(directory, { recursive: true, force: true }));

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

test("the samples of README.md and of the pages on hooks, databases and encryption are accepted by the compiler", async () => {
  const samples = SAMPLES["tests/docs/documents.test.ts"].flatMap(samplesOf);
  expect(samples.length).toBeGreaterThan(5);
  for (const [index, sample] of samples.entries()) {
    await writeFile(join(directory, `sample-${index}.ts`), toModule(sample));
  }
  await mkdir(join(directory, "generated/prisma"), { recursive: true });
  await writeFile(join(directory, "generated/prisma/client.d.ts"), PRISMA_CLIENT);
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
      "perdure/opentelemetry": [join(root, "src/telemetry/index.ts")],
    },
  };
  await writeFile(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["*.ts"] }));
  const { stdout } = await run(join(root, "node_modules/.bin/tsc"), ["-p", directory]).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
}, 60_000);

test("every document with TypeScript samples has a test that compiles or runs them", async () => {
  const tested = Object.values(SAMPLES).flat() as string[];
  const withSamples = DOCUMENTS.filter((document) => samplesOf(document).length > 0);

  expect(withSamples.filter((document) => !tested.includes(document))).toEqual([]);
  expect(tested.filter((document) => !withSamples.includes(document))).toEqual([]);
  for (const [file, documents] of Object.entries(SAMPLES)) {
    const test = await readFile(join(root, file), "utf8");
    const names = (document: string) => test.includes(`SAMPLES["${file}"]`) || test.includes(document);
    expect(documents.filter((document) => !names(document))).toEqual([]);
  }
});

test("docs/errors.md explains every error code in the sources, and no other", async () => {
  const explained = new Set(
    Array.from(readDocument("docs/errors.md").matchAll(/^\| (.*?) \|/gm), ([, cell]) =>
      Array.from((cell as string).matchAll(/`([a-z_]+\.[a-z_]+)`/g), ([, code]) => code as string),
    ).flat(),
  );
  const codes = new Set<string>();
  for (const file of globSync("src/**/*.ts", { cwd: root })) {
    if (file.endsWith(".test.ts") || file.startsWith("src/telemetry/")) continue; // names of attributes look like codes
    const text = await readFile(join(root, file), "utf8");
    for (const [, code] of text.matchAll(/"([a-z_]+\.[a-z_]+)"/g)) codes.add(code as string);
  }
  for (const text of NOT_CODES) codes.delete(text);

  expect(codes.size).toBeGreaterThan(100);
  expect([...codes].filter((code) => !explained.has(code))).toEqual([]);
  expect([...explained].filter((code) => !codes.has(code))).toEqual([]);
});

test("every file that a document names exists", () => {
  const named = DOCUMENTS.flatMap((document) => {
    const paths = readDocument(document).matchAll(
      /`((?:src|tests|docs|examples|bench|chaos|simulation|scripts)\/[^`\s*{]*)`/g,
    );
    return Array.from(paths, ([, path]) => ({ document, path: (path as string).replace(/\/$/, "") }));
  });

  expect(named.length).toBeGreaterThan(100);
  expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
});

test("no line of a document is longer than 128 characters, outside tables and samples", () => {
  const long = DOCUMENTS.flatMap((document) => {
    const prose = readDocument(document).replaceAll(/```[\s\S]*?```/g, "");
    return prose.split("\n").filter((line) => line.length > 128 && !line.startsWith("|") && !line.includes("]("));
  });

  expect(long).toEqual([]);
});

test("README.md fits on one screen, and ARCHITECTURE.md can be read in an hour", () => {
  expect(readDocument("README.md").split("\n").length).toBeLessThan(60);
  expect(Buffer.byteLength(readDocument("ARCHITECTURE.md"))).toBeLessThan(15 * 1024);
});
