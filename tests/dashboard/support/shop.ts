import { z } from "zod";
import {
  defineHook,
  defineSubjects,
  defineWorkflow,
  NonRetryableError,
  type PerdureOptions,
  perdure,
} from "../../../src/index.ts";
import { waitUntil } from "../../support/wait-until.ts";

const Order = z.object({ orderId: z.string(), email: z.string(), total: z.number() });
const undo = { rollback: async () => {} };
const never = new Promise<never>(() => {});

const archive = defineWorkflow({ name: "archive" }, async (_event: { payload: { key: string } }, step) => {
  await step.do("index", async () => ({ pages: 2 }));
  await step.do("upload", async () => null);
});

const receipt = defineWorkflow({ name: "receipt" }, async (event: { payload: { charge: string } }, step) => {
  const pdf = await step.do("render pdf", async () => `receipt-${event.payload.charge}.pdf`);
  const { key } = await step.do("store", async () => ({ key: `receipts/${pdf}`, bytes: 48_213 }));
  await step.create(archive, { params: { key } });
  return { pdf };
});

const checkout = defineWorkflow(
  {
    name: "checkout",
    input: Order,
    events: { approved: z.object({ by: z.string(), note: z.string().optional(), amount: z.number().optional() }) },
    concurrency: { limit: 25, key: (order: { email: string }) => order.email },
  },
  async (event, step) => {
    const { orderId, total } = event.payload;
    await step.do("reserve stock", async () => ({ warehouse: "de-hamburg", items: 3 }), undo);
    const charge = await step.do(
      "charge card",
      { retries: { limit: 4, delay: 20 } },
      async ({ attempt }) => {
        if (orderId.endsWith("9") && attempt < 3)
          throw new Error(`The payment service answered 503 (attempt ${attempt}).`);
        if (orderId.endsWith("7")) throw new NonRetryableError("The card was declined: insufficient funds.");
        return { id: `ch_${orderId}`, amount: 129_900n, currency: "EUR", at: new Date("2026-03-04T10:15:00Z") };
      },
      undo,
    );
    const child = await step.create(receipt, { params: { charge: charge.id } });
    await step.sleep("cool down", orderId.endsWith("4") ? "2 days" : 30);
    await child.result();
    if (total > 400) await step.waitForEvent("approval", { type: "approved", timeout: "3 days" });
    const [parcel, mail] = await Promise.all([
      step.do("book parcel", async () => ({ carrier: "DHL", tracking: "00340434161094042557" })),
      step.do("send confirmation", async () => ({ to: event.payload.email })),
      step.do("update analytics", async () => null),
    ]);
    return { charge: charge.id, parcel, mail };
  },
);

const trip = defineWorkflow({ name: "trip" }, async (event: { payload: { to: string } }, step) => {
  for (const name of ["flight", "hotel", "car"]) {
    const book = async () => {
      if (name === "car" && event.payload.to === "Bergen") throw new NonRetryableError("No car is left in Bergen.");
      return { booking: `${name}-${event.payload.to}` };
    };
    await step.do(`book ${name}`, book, undo);
  }
});

const importCatalog = defineWorkflow(
  { name: "import-catalog", concurrency: { limit: 2, key: () => "catalog" } },
  async (_event: { payload: { shop: string } }, step) => {
    await step.do("fetch pages", async ({ emit }) => {
      await emit({ page: 12, of: 80 });
      await never;
    });
  },
);

const digest = defineWorkflow(
  {
    name: "digest",
    schedules: [
      { cron: "0 7 * * 1-5", name: "weekdays", timezone: "Europe/Berlin" },
      { cron: "*/15 * * * *", name: "quarter-hourly" },
      { cron: "30 2 1 * *", name: "monthly" },
    ],
  },
  async (_event, step) => step.do("collect", async () => ({ orders: 1_284 })),
);

const long = defineWorkflow({ name: "backfill" }, async (event: { payload: { steps: number } }, step) => {
  for (let index = 0; index < event.payload.steps; index += 1) await step.do(`batch ${index}`, async () => index);
});

const sendMail = defineHook({ retries: { limit: 3, delay: 10 } }, async ({ to }: { to: string }) => {
  if (to.endsWith("invalid")) throw new Error(`550 mailbox unavailable: <${to}>`);
});
const syncCrm = defineHook({ retries: { limit: 10, delay: "1 hour" } }, async (_customer: { id: number }) => {
  throw new Error("connect ETIMEDOUT crm.internal:443");
});
const webhook = defineHook({}, async (_event: { url: string }) => {});

const inventory = defineSubjects({
  every: "1 hour",
  discover: () =>
    ["cn-shenzhen", "de-hamburg", "us-memphis", "nl-venlo", "pl-poznan", "sg-tuas"].map((key) => ({
      subjectKey: `warehouse:${key}`,
      group: key.slice(0, 2),
      cursor: { page: 1 },
      meta: { region: key.slice(0, 2) },
    })),
  handle: async ({ subjectKey }: { subjectKey: string }) => {
    if (subjectKey.endsWith("memphis")) throw new Error("The API of the warehouse answered 429.");
    return { cursor: { page: 7 }, nextDueAt: new Date(Date.now() + 3_600_000) };
  },
});

export type Shop = Awaited<ReturnType<typeof openShop>>;

/** An application like one that people have. */
export function openShop(options: Pick<PerdureOptions<Record<never, never>>, "database">) {
  return perdure({
    ...options,
    hooks: { sendMail, syncCrm, webhook },
    workflows: { checkout, receipt, archive, trip, importCatalog, digest, backfill: long },
    subjects: { inventory },
    worker: { onError: () => {} },
    logger: { info() {}, warn() {}, error() {} },
  });
}

/** Puts work into every state that an operator can meet. */
export async function fillShop(app: Shop, { orders = 60 }: { readonly orders?: number } = {}): Promise<void> {
  const { checkout, trip, importCatalog } = app.workflows;
  for (let number = 1; number <= orders; number += 1) {
    await checkout.create({
      id: `order-${String(4200 + number)}`,
      params: {
        orderId: String(4200 + number),
        email: `customer${number % 17}@example.org`,
        total: (number * 37) % 640,
      },
      labels: {
        tenant: ["acme", "globex", "initech"][number % 3] as string,
        channel: number % 2 === 0 ? "web" : "app",
      },
    });
  }
  for (const to of ["Lisbon", "Bergen", "Kyoto"]) await trip.create({ id: `trip-${to.toLowerCase()}`, params: { to } });
  for (const shop of ["north", "south", "east", "west", "outlet"]) {
    await importCatalog.create({ id: `catalog-${shop}`, params: { shop } });
  }
  for (const to of ["ada@example.org", "bob@example.invalid", "eve@example.invalid"]) {
    await app.hooks.sendMail.trigger({ to });
  }
  for (const id of [1, 2, 3]) await app.hooks.syncCrm.trigger({ id });
  await app.hooks.webhook.trigger({ url: "https://example.org/hook" }, { processAt: new Date(Date.now() + 7_200_000) });
  await waitUntil("the work is where it stays", async () => {
    const { running = 0, queued = 0, errored = 0 } = (await app.instances.counts()).total;
    const { failed, due } = await app.durableHooks.statistics();
    return running === 2 && queued === 3 && errored > 2 && failed === 2 && due === 0;
  });
}
