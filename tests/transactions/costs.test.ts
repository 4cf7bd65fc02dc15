import { DatabaseSync } from "node:sqlite";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import {
  type AsyncTransaction,
  defineHook,
  defineWorkflow,
  fromNodeSqlite,
  fromPg,
  perdure,
  type WithinAsync,
} from "../../src/index.ts";
import { ENGINES, type TestEngine } from "../support/engines.ts";

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const definitions = { hooks: { note: defineHook((_text: string) => {}) }, workflows: { quick: workflow("quick") } };

function workflow(name: string) {
  return defineWorkflow({ name }, async () => {});
}

type Within = WithinAsync<typeof definitions.hooks, typeof definitions.workflows>;

interface Connection {
  /** Counts its statements. */
  readonly transaction: AsyncTransaction;
  query(text: string): Promise<readonly object[]> | readonly object[];
}

async function connect({ dialect }: TestEngine, location: string, statements: string[]): Promise<Connection> {
  if (dialect === "sqlite") {
    const database = new DatabaseSync(location);
    opened.push(() => database.close());
    const transaction = fromNodeSqlite(database);
    const execute: typeof transaction.execute = (text, parameters) => {
      statements.push(text);
      return transaction.execute(text, parameters);
    };
    const query = (text: string) => database.prepare(text).all();
    return { transaction: { ...transaction, execute } as unknown as AsyncTransaction, query };
  }
  const client = new pg.Client(location);
  await client.connect();
  opened.push(() => client.end());
  const transaction = fromPg(client);
  const execute: typeof transaction.execute = (text, parameters) => {
    statements.push(text);
    return transaction.execute(text, parameters);
  };
  return { transaction: { ...transaction, execute }, query: async (text) => (await client.query(text)).rows };
}

/** Without a worker, so that only the caller writes. */
async function begin(engine: TestEngine) {
  const database = await engine.create();
  opened.push(() => database.dispose());
  const app = await perdure({ database: database.adapter, worker: false, ...definitions });
  opened.push(() => app.stop());
  const statements: string[] = [];
  const { transaction, query } = await connect(engine, database.location, statements);
  const prefix = engine.dialect === "sqlite" ? "perdure_" : "perdure.";
  const countRows = async () => {
    const counts = ["hook", "instance", "label", "event"].map((table) => `(select count(*) from ${prefix}${table})`);
    return Number((await query(`select ${counts.join(" + ")} as total`)).map((row) => Object.values(row)[0])[0]);
  };
  await query("begin");
  const within = app.within(transaction) as Within;
  const measure = async (call: (given: Within) => unknown) => {
    const before = await countRows();
    statements.length = 0;
    await call(within);
    return { statements: statements.length, rows: (await countRows()) - before };
  };
  return { within, measure, statements, app, transaction };
}

const CALLS: Record<string, (within: Within) => unknown> = {
  "a trigger": (within) => within.triggerHook("note", "x"),
  "a trigger with a key": (within) => within.triggerHook("note", "x", { key: "k" }),
  "a create": (within) => within.workflows.quick.create({ id: "a" }),
  "a create with two labels": (within) => within.workflows.quick.create({ id: "b", labels: { x: "1", y: "2" } }),
  "a batch of a hundred": (within) =>
    within.workflows.quick.createBatch(Array.from({ length: 100 }, (_, index) => ({ id: `n${index}` }))),
  "an event": (within) => within.workflows.quick.sendEvent({ to: "before", type: "t" }),
  "a createOrSend": (within) => within.workflows.quick.createOrSend({ id: "c", event: { type: "t" } }),
};

/** Statements and rows. SQLite's statements need no round trip. */
const COSTS: Record<string, Record<TestEngine["dialect"], readonly [statements: number, rows: number]>> = {
  "a trigger": { sqlite: [1, 1], postgres: [1, 1] },
  "a trigger with a key": { sqlite: [1, 1], postgres: [1, 1] },
  "a create": { sqlite: [2, 1], postgres: [1, 1] },
  "a create with two labels": { sqlite: [6, 3], postgres: [1, 3] },
  "a batch of a hundred": { sqlite: [200, 100], postgres: [1, 100] },
  "an event": { sqlite: [5, 1], postgres: [1, 1] },
  "a createOrSend": { sqlite: [7, 2], postgres: [2, 2] },
};

describe.each(ENGINES)("in the caller's transaction on $name", (engine) => {
  test.each(Object.keys(CALLS))("%s costs as many statements and rows as the document says", async (name) => {
    const { within, measure } = await begin(engine);
    await within.workflows.quick.create({ id: "before" });
    const costs = COSTS[name] as (typeof COSTS)[string];
    const [statements, rows] = costs[engine.dialect];
    expect(await measure(CALLS[name] as never)).toEqual({ statements, rows });
  });
});

test("only the first call of an object costs one more statement where the client can't tell that a transaction is open", async () => {
  const { app, transaction, statements } = await begin(
    ENGINES.find(({ dialect }) => dialect === "postgres") as TestEngine,
  );
  const { isOpen, ...blind } = transaction;
  const costs: number[] = [];
  for (const given of [blind, { ...blind, isOpen: () => true }]) {
    const within = app.within(given);
    for (const text of ["first", "second"]) {
      statements.length = 0;
      await within.triggerHook("note", text);
      costs.push(statements.length);
    }
  }
  expect(costs).toEqual([2, 1, 1, 1]);
});
