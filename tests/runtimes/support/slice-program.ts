/** A bit of everything that needs the embedded database. Prints what became of it as one line of JSON. */
import { DatabaseSync } from "node:sqlite";
import { defineHook, defineSubjects, defineWorkflow, perdure, type WorkflowEvent } from "perdure";
import { sqlite } from "perdure/sqlite";

const [path = ""] = process.argv.slice(2);
const awaited = new Map<string, () => void>();
const happens = (what: string) => new Promise<void>((resolve) => awaited.set(what, resolve));
const tell = (what: string) => awaited.get(what)?.();

const order = defineWorkflow({ name: "order" }, async (event: WorkflowEvent<{ price: number }>, step) => {
  const charged = await step.do("charge", () => event.payload.price * 2);
  await step.sleep("cool down", 20);
  const approval = await step.waitForEvent<string>("approval", { type: "approved", timeout: "1 hour" });
  await step.do("ship", () => "parcel", { rollback: async () => tell("parcel returned") });
  if (approval.payload === "Eve") throw new Error("Eve approves nothing.");
  return `${charged} approved by ${approval.payload}`;
});
const nightly = defineWorkflow(
  { name: "nightly", schedules: [{ cron: "0 2 * * *", name: "night" }], retention: { successRetention: "1 hour" } },
  async (_event, step) => step.do("report", () => "reported"),
);
const limited = defineWorkflow({ name: "limited", concurrency: { limit: 1 } }, async (_event, step) =>
  step.do("work", () => "worked"),
);
const welcome = defineHook({ retries: { limit: 2, delay: 5 } }, async (name: string, hook) => {
  if (hook.attempts === 1) throw new Error("The mail server doesn't answer.");
  tell(`welcome ${name}`);
});
const stock = defineSubjects({
  every: "1 hour",
  discover: () => [{ subjectKey: "warehouse:1", cursor: { page: 1 }, group: "east" }],
  handle: async ({ cursor }, { checkpoint }) => {
    await checkpoint({ page: (cursor?.page ?? 0) + 1 });
    tell("warehouse handled");
  },
});

// What was promised is waited for before anything can happen.
const all = [happens("parcel returned"), happens("welcome Ada"), happens("welcome Bob"), happens("warehouse handled")];
const app = await perdure({
  database: path,
  hooks: { welcome },
  workflows: { order, nightly, limited },
  subjects: { stock },
  logger: { info: () => {}, warn: () => {}, error: () => {} },
});

await app.unitOfWork(async (uow) => {
  await uow.sql`create table customer (name text)`;
  await uow.query("insert into customer (name) select ?2 where ?1 = ?1 and '?3' <> ?2", [1, "Ada"]);
  uow.triggerHook("welcome", "Ada", { key: "customers" });
});
await all[1];
const refused = await app
  .unitOfWork(async (uow) => {
    await uow.sql`insert into customer (name) values ('nobody')`;
    uow.triggerHook("welcome", "nobody");
    throw new Error("refused");
  })
  .catch((error: Error) => error.message);
const customers = await app.unitOfWork((uow) => uow.sql<{ name: string }>`select name from customer`);
await app.hooks.welcome.trigger("Bob", { key: "customers", debounce: 5 });

const instance = await app.workflows.order.create({ id: "order-1", params: { price: 6 } });
await instance.sendEvent({ type: "approved", payload: "Ada" });
const other = await app.workflows.order.create({ id: "order-2", params: { price: 6 } });
await other.sendEvent({ type: "approved", payload: "Eve" });
const twice = await Promise.all([app.workflows.limited.create(), app.workflows.limited.create()]);
const night = await app.schedules.runNow({ workflow: "nightly", name: "night" });
const results = {
  order: await instance.result(),
  again: await instance.restart({ from: { name: "ship" } }).then(() => instance.result()),
  failure: await other.result().catch((error: Error) => error.message),
  limited: await Promise.all(twice.map((one) => one.result())),
  night: await night.result(),
};
await Promise.all(all);
const listed = (await app.workflows.order.list({ status: "complete" })).instances.map(({ id }) => id);
await app.stop();

// A database that the application has opened, with a transaction of its own in between.
const handle = new DatabaseSync(path);
const shared = await perdure({ database: sqlite(handle), workflows: { order }, worker: false });
handle.exec("begin");
const found = shared.workflows.order.get("order-1").then((one) => one.status());
handle.exec("rollback");
const { status } = await found;
await shared.stop();
handle.close();

console.log(JSON.stringify({ refused, customers, ...results, listed, status }));
