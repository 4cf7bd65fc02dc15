/**
 * A small shop on embedded SQLite. Orders are placed; everything that follows from them is done by durable hooks. Meanwhile
 * durable workflows see to three other things in the office:
 *
 *     approval.ts   an employee wants to buy a chair: steps, an event, a sleep, a retry
 *     trip.ts       a customer wants to travel, and one booking fails: the others are rolled back
 *     overview.ts   every other second it looks at what has become of all workflows: a schedule
 *
 * and dashboard.ts lets you watch all of it in a browser.
 *
 *     npm start
 *
 * Kill it in the middle (Ctrl-C, or kill -9) and start it again: what was accepted goes on, and steps that were done stay done.
 */
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { defineHook, NonRetryableError, perdure } from "perdure";
import { definePurchase } from "./approval.ts";
import { serveDashboard } from "./dashboard.ts";
import { defineOverview } from "./overview.ts";
import { defineTrip } from "./trip.ts";

interface Order {
  readonly id: string;
  readonly email: string;
  readonly amount: number;
}

const began = Date.now();
const run = began.toString(36);
const say = (who: string, what: string) =>
  console.log(`${`+${Date.now() - began} ms`.padStart(9)}  ${who.padEnd(9)}  ${what}`);

/** A payment service that is down now and then. It remembers idempotency keys, as good services do. */
const charged = new Set<string>();
const charge = defineHook(
  { retries: { limit: 5, delay: "200 milliseconds", backoff: "exponential" } },
  async (order: Order, hook) => {
    if (order.amount > 1000) throw new NonRetryableError(`the card of ${order.id} was refused`);
    if (hook.attempts < 3 && order.id.endsWith("2")) throw new Error("the payment service didn't answer");
    if (!charged.has(hook.idempotencyKey)) charged.add(hook.idempotencyKey);
    say("charge", `${order.id}: ${order.amount} € (attempt ${hook.attempts} of at most ${hook.maxAttempts})`);
    await app.unitOfWork(async (uow) => {
      await uow.sql`update orders set paid = 1 where id = ${order.id}`;
      uow.triggerHook("confirm", order);
      uow.triggerHook("remind", order, { processAt: new Date(Date.now() + 1500) });
      uow.triggerHook("report", undefined, { key: "today", processAt: new Date(Date.now() + 1000) });
    });
  },
);

const confirm = defineHook({}, async (order: Order) => say("confirm", `mail to ${order.email}`));
const remind = defineHook({}, async (order: Order) => say("remind", `${order.email}: how do you like ${order.id}?`));
const report = defineHook({}, async (_payload: undefined, hook) => {
  const [row] = await app.unitOfWork(
    (uow) => uow.sql`select count(*) as orders, sum(amount) as total from orders where paid = 1`,
  );
  say(
    "report",
    `${row?.orders} orders, ${row?.total} €: many triggers, one report (${hook.idempotencyKey.split(":")[1]} collapsed)`,
  );
});

const notify = defineHook({}, async (message: string) => say("notify", message));
const purchase = definePurchase({
  say: (what) => say("purchase", what),
  notify: async (message, key) => void (await app.hooks.notify.trigger(message, { id: key })),
});
const trip = defineTrip((what) => say("trip", what));
const overview = defineOverview({
  say: (what) => say("overview", what),
  count: async () => (await app.instances.counts()).workflows,
});

const app = await perdure({
  database: "perdure-demo.db",
  hooks: { charge, confirm, remind, report, notify },
  workflows: { purchase, trip, overview },
  worker: {
    onError: (error, { attempt }) => {
      if (/^(workflow|step)/.test(attempt?.description ?? "")) return; // they say it themselves
      const next = attempt?.final ? "given up, kept as a dead letter" : "will be tried again";
      say("!", `${(error as Error).message}: ${next}`);
    },
  },
});

await app.unitOfWork(
  (uow) =>
    uow.sql`create table if not exists orders (id text primary key, email text, amount real, paid integer default 0)`,
);
const dashboard = await serveDashboard(app);
say("start", `watch it at ${dashboard.url}`);
say("start", `this is process ${process.pid}: kill -9 it at any moment, and start it again`);
const { pending, processing, failed } = await app.durableHooks.statistics();
if (pending + processing + failed > 0) {
  say("start", `found ${pending + processing} hooks of an earlier run that continue now, and ${failed} dead letters`);
}

/** What isn't finished of an earlier run that was killed. */
async function findUnfinished(kind: "purchase" | "trip"): Promise<string[]> {
  const { instances } = await app.workflows[kind].list();
  const unfinished = instances.filter(({ finishedAt }) => finishedAt === null);
  for (const { id, status } of unfinished) say("start", `found ${id} of an earlier run, ${status}: it goes on now`);
  return unfinished.map(({ id }) => id);
}

const purchases = await findUnfinished("purchase");
const trips = await findUnfinished("trip");

/** The manager takes a moment. Sending it twice does no harm: the event has an id of its own. */
async function approve(id: string): Promise<void> {
  await delay(700);
  const instance = await app.workflows.purchase.get(id);
  if ((await instance.status()).finishedAt === null) {
    await instance.sendEvent({ id: "approval", type: "approval", payload: { by: "Ada", granted: true } });
    say("manager", `approves ${id}`);
  }
  const { bought, left } = await instance.result();
  const { entries } = await instance.history();
  const steps = entries.filter(({ kind }) => kind === "completed" || kind === "received").map(({ name }) => name);
  say("purchase", `${id} is ${bought ? "bought" : "off"}, ${left} € left; its journal: ${steps.join(", ")}`);
}

if (purchases.length === 0) {
  const { id } = await app.workflows.purchase.create({
    id: `purchase-${run}`,
    params: { item: "a chair", price: 240 },
  });
  purchases.push(id);
  say("purchase", `${id} requested`);
}
const approvals = purchases.map(approve);

/** The order and its hook are one transaction: both are there, or neither is. */
async function placeOrder(order: Order): Promise<void> {
  await app.unitOfWork(async (uow) => {
    await uow.sql`insert into orders (id, email, amount) values (${order.id}, ${order.email}, ${order.amount})`;
    uow.triggerHook("charge", order);
  });
  say("order", `${order.id} placed`);
}

for (const [index, amount] of [20, 35, 12, 5000].entries()) {
  await placeOrder({ id: `${run}-${index + 1}`, email: `customer${index + 1}@example.org`, amount });
  await delay(150);
}

await placeOrder({ id: `${run}-1`, email: "twice@example.org", amount: 1 }).catch(() => {
  say("order", `${run}-1 exists: rolled back, and no hook was left behind`);
});

/** There is no car left, so the trip fails, and what was booked is cancelled. */
async function travel(id: string): Promise<void> {
  const instance = await app.workflows.trip.get(id);
  await instance.result().catch(() => {});
  const { status, error, rollback } = await instance.status();
  say("trip", `${id} is ${status} (${error?.message}), its rollback is ${rollback?.outcome}`);
}

if (trips.length === 0) {
  const { id } = await app.workflows.trip.create({ id: `trip-${run}`, params: { to: "Lisbon" } });
  trips.push(id);
  say("trip", `${id} requested`);
}
await Promise.all([...approvals, ...trips.map(travel)]);
for (;;) {
  const { pending, processing } = await app.durableHooks.statistics();
  if (pending + processing === 0) break;
  await delay(100);
}
const { hooks: deadLetters } = await app.durableHooks.deadLetters();
for (const { id, name, error } of deadLetters) say("operator", `discards ${name} ${id}: ${(error as Error).message}`);
await app.durableHooks.discard(deadLetters.map(({ id }) => id));
say("done", "everything that was accepted has been done");
if (process.stdin.isTTY && process.stdout.isTTY) {
  say("done", `the dashboard and the overview run until Ctrl-C: ${dashboard.url}`);
  await once(process, "SIGINT");
}
dashboard.close();
await app.stop();
