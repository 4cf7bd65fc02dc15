import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AnyWorkflow, perdure } from "../../src/index.ts";
import { root, samplesOf } from "../docs/support/samples.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { linkGeneratedPrisma, removeGeneratedPrisma } from "./support/mappers.ts";

const samples = samplesOf("docs/transactions.md").filter((sample) => /OwnedTransaction<\w+/.test(sample));
const LIBRARIES = /from "(drizzle-orm\/[\w-]+|@mikro-orm\/\w+|@prisma\/[\w-]+|kysely|knex|typeorm)"/;
const libraryOf = (sample: string) => LIBRARIES.exec(sample)?.[1] ?? "unknown";

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/transactions/step-samples-"));
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await removeGeneratedPrisma();
});

/** What a sample makes. */
interface Made {
  readonly booking: AnyWorkflow;
  readonly source?: { destroy(): Promise<void> };
  readonly orm?: { close(): Promise<void> };
}

const REPLACEMENTS = [
  ['entities: ["dist/entities"]', "entities: [], discovery: { warnWhenNoEntities: false }"],
  ['entities: ["dist/entities/*.js"]', "entities: []"],
] as const;

test("the document shows the libraries that can use the connection of a step's transaction", () => {
  const builders = ["drizzle-orm/node-postgres", "kysely", "knex", "drizzle-orm/better-sqlite3"];
  expect(samples.map(libraryOf)).toEqual([...builders, "typeorm", "@mikro-orm/postgresql", "@prisma/adapter-pg"]);
});

describe.each(samples.map((sample) => ({ library: libraryOf(sample), sample })))("the sample of $library", (given) => {
  const { library, sample } = given;

  test("writes its row and its step together, and neither if the step fails", async () => {
    const wanted = library.endsWith("better-sqlite3") ? "better-sqlite3" : "postgres";
    const engine = DRIVERS.find(({ name }) => name === wanted) as TestEngine;
    const database = await engine.create();
    const file = join(directory, `${library.replaceAll(/\W/g, "-")}.ts`);
    const failing = sample.replace(/^( +)(await .*;)\n {2}}\);/m, '$1$2\n$1throw new Error("no");\n  });');
    expect(failing).not.toBe(sample);
    if (library.startsWith("@prisma")) await linkGeneratedPrisma(directory);
    const exported = (text: string) =>
      REPLACEMENTS.reduce((replaced, [from, to]) => replaced.replace(from, to), text)
        .replace("postgres://localhost/app", database.location)
        .replaceAll(/^const (booking|source|orm)\b/gm, "export const $1");
    await writeFile(file, exported(sample));
    await writeFile(`${file}.failing.ts`, exported(failing).replaceAll('"booking"', '"failing"'));
    const made = (await import(pathToFileURL(file).href)) as Made;
    const madeToFail = (await import(pathToFileURL(`${file}.failing.ts`).href)) as Made;
    const { booking } = made;
    const { booking: failed } = madeToFail;
    const query = (text: string) => database.store.engine.transaction((transaction) => transaction.query(text, []));
    await query("create table bookings (seat text)");
    const app = await perdure({
      database: database.reopen(),
      workflows: { booking, failed },
      logger: { info: () => {}, warn: () => {}, error: () => {} },
    });
    try {
      const failure = await app.workflows.failed.create({ id: "b" });
      await (await app.workflows.booking.create({ id: "a" })).result();
      const hasFailed = async () => (await failure.history()).entries.some(({ kind }) => kind === "failed");
      await waitUntil("the step has failed", hasFailed);
      await failure.terminate();
      expect(await query("select seat from bookings")).toEqual([{ seat: "12a" }]);
    } finally {
      await app.stop();
      for (const { source, orm } of [made, madeToFail]) await Promise.all([source?.destroy(), orm?.close()]);
      await database.dispose();
    }
  });
});
