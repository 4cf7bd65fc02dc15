import { describe, expect, expectTypeOf, test } from "vitest";
import { defineHook, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { type CrashReport, exploreCrashes, type TestApp } from "../../src/testing/index.ts";

/** Every commit of `report`, in order. */
function commits(report: CrashReport<unknown>): string[] {
  const points = report.outcomes.flatMap(({ crashes }) => crashes).filter(({ when }) => when === "before");
  return points.sort((left, right) => left.commit - right.commit).map(({ during }) => during);
}

/** A workflow that charges, waits for a word and sends a receipt. `once` says whether the bank knows of idempotency keys. */
function createCheckout(once: boolean) {
  const charges: string[] = [];
  const receipts = new Set<string>();
  const checkout = defineWorkflow({ name: "checkout" }, async (event: WorkflowEvent<string>, step) => {
    await step.do("charge", ({ idempotencyKey }) => {
      if (!once || !charges.includes(idempotencyKey)) charges.push(idempotencyKey);
    });
    await step.sleep("cool down", "10 minutes");
    const { payload } = await step.waitForEvent<string>("approval", { type: "approved" });
    await step.do("receipt", () => void receipts.add(`${event.payload} ${payload}`));
    return payload;
  });
  return { workflows: { checkout }, charges, receipts };
}

async function runCheckout(app: TestApp<Record<never, never>, ReturnType<typeof createCheckout>["workflows"]>) {
  const instance = await app.workflows.checkout.create({ id: "one", params: "order-1", onConflict: "return" });
  await instance.sendEvent({ id: "approval", type: "approved", payload: "by Ada" });
}

describe("crashes at every commit of a workflow", () => {
  test("make no difference to one whose steps are idempotent, whose caller tries again", async () => {
    const report = await exploreCrashes(
      {
        setUp: () => createCheckout(true),
        run: runCheckout,
        async check(app, { charges, receipts }) {
          const instance = await app.workflows.checkout.get("one");
          return { charges: charges.length, receipts: [...receipts], result: await instance.result() };
        },
      },
      { runAgain: true },
    );
    expect(commits(report)).toEqual([
      "create checkout",
      "send approved",
      "claim workflows",
      "step charge completed, sleep cool down waiting, park",
      "claim workflows",
      "sleep cool down completed, wait approval received",
      "step receipt completed, finish",
    ]);
    expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([
      { charges: 1, receipts: ["order-1 by Ada"], result: "by Ada" },
    ]);
    expectTypeOf(report.outcomes[0]?.outcome.result).toEqualTypeOf<string | undefined>();
  });

  test("show a step that has its effect twice, and where", async () => {
    const { outcomes } = await exploreCrashes(
      { setUp: () => createCheckout(false), run: runCheckout, check: (_app, { charges }) => charges.length },
      { runAgain: true },
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([1, 2]);
    expect(outcomes[1]?.crashes).toMatchObject([{ when: "before", during: expect.stringContaining("step charge") }]);
  });

  test("are told apart by what each writes", async () => {
    const report = await exploreCrashes(
      {
        setUp() {
          const child = defineWorkflow({ name: "child" }, async () => {
            throw new Error("no");
          });
          const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
            await step.do("flaky", { retries: { limit: 1, delay: "1 minute" } }, ({ attempt }) => {
              if (attempt === 1) throw new Error("not yet");
            });
            await step.do("flaky", { retries: { limit: 0 } }, () => {});
            await step.waitForEvent("word", { type: "word", timeout: "1 hour" }).catch(() => {});
            await step.create(child);
          });
          return { workflows: { parent, child } };
        },
        async run(app) {
          const instance = await app.workflows.parent.create({ id: "one", onConflict: "return" });
          await instance.pause();
          await instance.resume();
        },
        check: async (app) => (await (await app.workflows.parent.get("one")).status()).status,
      },
      { runAgain: true },
    );
    expect(commits(report)).toEqual([
      "create parent",
      "pause parent",
      "resume parent",
      "claim workflows",
      "step flaky failed attempt 1, park",
      "claim workflows",
      "step flaky completed",
      "step flaky#2 started attempt 1",
      "step flaky#2 completed, wait word waiting, park",
      "claim workflows",
      "wait word timedOut",
      "create child",
      "child child completed, finish; finish with an error",
    ]);
    expect(report.outcomes[0]?.outcome).toBe("complete");
  });

  test("meet hooks and workflows that start each other, held waits and parallel steps", async () => {
    const { outcomes, runs } = await exploreCrashes(
      {
        setUp() {
          const mails = new Set<string>();
          let app: TestApp<{ mail: typeof mail }, { trip: typeof trip }>;
          const mail = defineHook((text: string) => void mails.add(text));
          const trip = defineWorkflow({ name: "trip" }, async (_event, step): Promise<string[]> => {
            await step.sleep("a moment", "2 seconds");
            const booked = await Promise.all([
              step.do("flight", () => "LIS"),
              step.do("hotel", async () => "Rossio"),
              step.sleep("meanwhile", "1 second").then(() => "later"),
            ]);
            await step.do("mail", async (ctx) => {
              await app.hooks.mail.trigger(booked.join(), { id: ctx.idempotencyKey.replaceAll("/", "-") });
            });
            return booked;
          });
          const use = (one: typeof app) => {
            app = one;
          };
          return { hooks: { mail }, workflows: { trip }, mails, use };
        },
        async run(app, { use }) {
          use(app);
          await app.workflows.trip.create({ id: "one", onConflict: "return" });
          await app.runUntilIdle();
        },
        async check(app, { mails }) {
          return { mails: [...mails], result: await (await app.workflows.trip.get("one")).result() };
        },
      },
      { runAgain: true },
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      { mails: ["LIS,Rossio,later"], result: ["LIS", "Rossio", "later"] },
    ]);
    expect(runs).toBeGreaterThan(10);
  });

  test("come out the same each time", async () => {
    const explore = () =>
      exploreCrashes(
        { setUp: () => createCheckout(false), run: runCheckout, check: (_app, { charges }) => charges },
        { runAgain: true },
      );
    expect(await explore()).toEqual(await explore());
  });
});
