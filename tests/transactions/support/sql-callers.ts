import pg from "pg";
import { afterEach } from "vitest";
import { z } from "zod";
import { defineHook, defineWorkflow, perdure, type WorkflowEvent } from "../../../src/index.ts";
import { DRIVERS, type TestEngine } from "../../support/engines.ts";

/** PostgreSQL, whose schema has the functions. */
const postgres = DRIVERS.find(({ name }) => name === "postgres") as TestEngine;
/** What to close after the test. */
export const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

const quick = defineWorkflow({ name: "quick" }, async (event: WorkflowEvent<unknown>) => event.payload);
const typed = defineWorkflow(
  { name: "typed", input: z.object({ at: z.coerce.date() }) },
  async (event) => event.payload,
);
const waiting = defineWorkflow({ name: "waiting" }, async (_event: WorkflowEvent<unknown>, step) => {
  const notes: unknown[] = [];
  while (notes.at(-1) !== "end") {
    const { payload } = await step.waitForEvent<unknown>("note", { type: "note", timeout: "1 hour" });
    notes.push(payload ?? "nothing");
  }
  return notes;
});
/** An application on PostgreSQL, and clients that call the functions in plain SQL. */
export async function start(engine = postgres) {
  const database = await engine.create();
  opened.push(() => database.dispose());
  const notes: unknown[] = [];
  const running = { now: 0, most: 0 };
  const single = defineWorkflow({ name: "single", concurrency: { limit: 1 } }, async () => {
    running.most = Math.max(running.most, ++running.now);
    await new Promise((resolve) => setImmediate(resolve));
    running.now--;
  });
  const app = await perdure({
    database: database.adapter,
    hooks: {
      note: defineHook((payload: unknown) => void notes.push(payload)),
      dated: defineHook({ input: z.object({ at: z.coerce.date() }) }, (payload) => void notes.push(payload)),
    },
    workflows: { quick, typed, waiting, single },
  });
  opened.push(() => app.stop());
  const connect = async () => {
    const client = new pg.Client(database.location);
    await client.connect();
    opened.push(() => client.end());
    return client;
  };
  return { app, adapter: database.adapter, notes, running, client: await connect(), connect };
}

export const isIdle = async ({ app }: Pick<Awaited<ReturnType<typeof start>>, "app">) =>
  (await app.durableHooks.list()).hooks.length === 0;
