import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import pg from "pg";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type Application, defineHook, perdure } from "../../src/index.ts";
import { root, samplesOf } from "../docs/support/samples.ts";
import { DRIVERS, type TestEngine } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { linkGeneratedPrisma, removeGeneratedPrisma } from "./support/mappers.ts";

const DOCUMENT = "docs/transactions.md";
const samples = samplesOf(DOCUMENT).filter((sample) => /from[A-Z]\w+ } from "perdure"/.test(sample));
const nameOf = (sample: string) => {
  const [, adapter] = /{ (from\w+) } from "perdure"/.exec(sample) as unknown as [string, string];
  const [, library] = /from "(drizzle-orm\/[\w-]+)"/.exec(sample) ?? [];
  return library === undefined ? adapter : `${adapter} of ${library}`;
};

const opened: (() => unknown)[] = [];
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(root, "tests/transactions/samples-"));
});

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

afterAll(async () => {
  await rm(directory, { recursive: true, force: true });
  await removeGeneratedPrisma();
});

interface Order {
  readonly id: string;
}

/** What a sample makes, by the names that it uses. */
const MADE = ["app", "database", "server", "pglite", "sql", "db", "knex", "source", "orm", "prisma"];

/** The sample as a function of what it takes for granted, which gives back what it has made. */
function toModule(sample: string, replacements: readonly (readonly [string, string])[]): string {
  const adapted = replacements.reduce((text, [from, to]) => text.replaceAll(from, to), sample);
  const imports = adapted.match(/^import .*$/gm) ?? [];
  const body = adapted.replaceAll(/^import .*$/gm, "");
  const made = MADE.map((name) => `${name}: typeof ${name} === "undefined" ? null : ${name}`);
  return `${imports.join("\n")}
export async function sample({ app, order, client, charge, perdure }: any) {
  {
    ${body}
    return { ${made.join(", ")} };
  }
}`;
}

const CLOSING = ["stop", "end", "$disconnect", "destroy", "close"];

async function close(made: unknown): Promise<void> {
  if (made === null || (typeof made !== "object" && typeof made !== "function")) return;
  const { store, $client } = made as { store?: unknown; $client?: unknown };
  const holder = (store ?? $client ?? made) as Record<string, unknown>;
  const name = CLOSING.find((one) => typeof holder[one] === "function");
  if (name !== undefined) await (holder[name] as () => unknown)();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function start(dialect: "sqlite" | "postgres") {
  const engine = DRIVERS.find((one) => one.dialect === dialect) as TestEngine;
  const database = await engine.create();
  opened.push(() => database.dispose());
  const charged: string[] = [];
  const charge = defineHook(({ id }: Order) => void charged.push(id));
  const app = await perdure({ database: database.adapter, hooks: { charge } });
  opened.push(() => app.stop());
  const create = "create table orders (id text primary key)";
  if (dialect === "sqlite") {
    const connection = new DatabaseSync(database.location);
    connection.exec(create);
    connection.close();
    return { app, charge, charged, client: null, location: database.location };
  }
  const client = new pg.Client(database.location);
  await client.connect();
  opened.push(() => client.end());
  await client.query(create);
  return { app, charge, charged, client, location: database.location };
}

test("the document has a sample for every library", () => {
  const names = samples.map(nameOf).sort();
  const adapters = [
    "fromBetterSqlite3",
    "fromClient",
    "fromKnex",
    "fromKysely",
    "fromMikroOrm",
    "fromNodeSqlite",
    "fromPg",
  ];
  const more = ["fromPglite", "fromPostgresJs", "fromPrisma", "fromTypeOrm"];
  const drizzle = ["better-sqlite3", "node-postgres", "postgres-js"].map(
    (name) => `fromDrizzle of drizzle-orm/${name}`,
  );
  expect(names).toEqual([...adapters, ...more, ...drizzle].sort());
});

test.each(samples.map((sample, index) => ({ name: nameOf(sample), sample, index })))(
  "the sample of $name runs, and its hook runs after its commit",
  async ({ name, sample, index }) => {
    const context = await start(/sqlite/i.test(sample) ? "sqlite" : "postgres");
    const { charge, charged, client, location } = context;
    const order = { id: `order-${index}`, email: "ada@example.org" };
    if (name === "fromPrisma") await linkGeneratedPrisma(directory);
    const replacements = [
      ["postgres://localhost/app", location],
      ["app.db", location],
      ["localhost:5433", `localhost:${await freePort()}`],
      ['entities: ["dist/entities"]', "entities: [], discovery: { warnWhenNoEntities: false }"],
    ] as const;
    const port = replacements[2][1].split(":")[1] as string;
    const file = join(directory, `sample-${index}.ts`);
    await writeFile(file, toModule(sample, [...replacements, ["port: 5433", `port: ${port}`]]));
    if (name === "fromClient") await client?.query("begin");
    const module = await import(pathToFileURL(file).href);
    const made = await module.sample({ app: context.app, order, client, charge, perdure });
    for (const one of [...MADE].reverse()) if (made[one] !== context.app) opened.push(() => close(made[one]));
    if (name === "fromClient") await client?.query("commit");
    const app = made.app as Application<{ charge: typeof charge }>;
    await waitUntil("the hook has run", () => charged.length > 0);
    await waitUntil("nothing is left", async () => (await app.durableHooks.list()).hooks.length === 0);
    expect(charged).toEqual([order.id]);
  },
);
