import { describe, expect, expectTypeOf, test } from "vitest";
import { defineHook, fromNodeSqlite, type HookDefinition } from "../../src/index.ts";
import { type CrashReport, exploreCrashes, type TestApp } from "../../src/testing/index.ts";

interface Order {
  readonly id: string;
  readonly amount: number;
}

const ORDER: Order = { id: "order-1", amount: 5 };
const TABLES = "create table payment (id text primary key, amount integer)";

/** A bank that charges once per key, if it is given keys. */
function createBank() {
  const charges: string[] = [];
  const keys = new Set<string>();
  const charge = async (key?: string) => {
    if (key !== undefined && keys.has(key)) return;
    if (key !== undefined) keys.add(key);
    charges.push(key ?? "a charge");
  };
  return { charge, charges };
}

function payments(app: TestApp<{ pay: HookDefinition<Order, Order> }>): number {
  return (app.database.prepare("select count(*) as count from payment").get() as { count: number }).count;
}

/** Every commit of `report`, in order. */
function commits(report: CrashReport<unknown>): string[] {
  const points = report.outcomes.flatMap(({ crashes }) => crashes).filter(({ when }) => when === "before");
  return points.sort((left, right) => left.commit - right.commit).map(({ during }) => during);
}

describe("crashes at every commit", () => {
  test("make no difference to a hook that is idempotent, whose caller tries again", async () => {
    const report = await exploreCrashes(
      {
        setUp() {
          const bank = createBank();
          const pay = defineHook((order: Order) => bank.charge(order.id));
          return { hooks: { pay }, bank };
        },
        run: (app) => app.hooks.pay.trigger(ORDER, { id: ORDER.id }),
        check: (_app, { bank }) => bank.charges.length,
      },
      { runAgain: true },
    );
    expect(commits(report)).toEqual(["trigger pay", "claim", "settle completed"]);
    expect(report.runs).toBe(7);
    expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([1]);
    expectTypeOf(report).toEqualTypeOf<CrashReport<number>>();
  });

  test("show a hook that charges twice, and where", async () => {
    const { outcomes } = await exploreCrashes(
      {
        setUp() {
          const bank = createBank();
          return { hooks: { pay: defineHook((_order: Order) => bank.charge()) }, bank };
        },
        run: (app) => app.hooks.pay.trigger(ORDER, { id: ORDER.id }),
        check: (_app, { bank }) => bank.charges.length,
      },
      { runAgain: true },
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([1, 2]);
    expect(outcomes[1]?.crashes).toEqual([{ commit: 3, when: "before", during: "settle completed" }]);
  });

  test("show what a caller that doesn't try again loses", async () => {
    const { outcomes } = await exploreCrashes({
      setUp() {
        const bank = createBank();
        return { hooks: { pay: defineHook((order: Order) => bank.charge(order.id)) }, bank };
      },
      run: (app) => app.hooks.pay.trigger(ORDER),
      check: (_app, { bank }) => bank.charges.length,
    });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([1, 0]);
    expect(outcomes[1]?.crashes).toEqual([{ commit: 1, when: "before", during: "trigger pay" }]);
  });

  test("leave a unit of work done, with its hook, or not done at all", async () => {
    const { outcomes } = await exploreCrashes({
      setUp() {
        const paid: string[] = [];
        const pay = defineHook(async (order: Order) => void paid.push(order.id));
        return { hooks: { pay }, tables: TABLES, paid };
      },
      run: (app) =>
        app.unitOfWork(async (uow) => {
          await uow.sql`insert into payment (id, amount) values (${ORDER.id}, ${ORDER.amount})`;
          uow.triggerHook("pay", ORDER);
        }),
      check: (app, { paid }) => ({ written: payments(app), paid: new Set(paid).size }),
    });
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      { written: 1, paid: 1 },
      { written: 0, paid: 0 },
    ]);
  });

  test("show a database effect that isn't done in one transaction with what says that it is done", async () => {
    const explore = (once: boolean) =>
      exploreCrashes({
        setUp() {
          const pay = defineHook(async (order: Order, hook) => {
            await app.unitOfWork(async (uow) => {
              const id = once ? hook.idempotencyKey : `${hook.idempotencyKey} ${hook.attempts}`;
              await uow.sql`insert into payment (id, amount) values (${id}, ${order.amount}) on conflict do nothing`;
            });
          });
          let app: TestApp<{ pay: typeof pay }>;
          const use = (one: typeof app) => {
            app = one;
          };
          return { hooks: { pay }, tables: TABLES, use };
        },
        async run(app, { use }) {
          use(app);
          await app.hooks.pay.trigger(ORDER);
          await app.runUntilIdle();
        },
        check: payments,
      });
    const careless = await explore(false);
    expect(careless.outcomes.map(({ outcome }) => outcome).sort()).toEqual([0, 1, 2]);
    const careful = await explore(true);
    expect(commits(careful)).toEqual(["trigger pay", "claim", "unit of work", "settle completed"]);
    expect(careful.outcomes.map(({ outcome }) => outcome).sort()).toEqual([0, 1]);
  });

  test("include those of the application's own transactions", async () => {
    const report = await exploreCrashes({
      setUp() {
        const paid: string[] = [];
        return { hooks: { pay: defineHook((order: Order) => void paid.push(order.id)) }, tables: TABLES, paid };
      },
      async run(app) {
        app.database.exec("begin");
        app.database.prepare("insert into payment (id, amount) values (?, ?)").run(ORDER.id, ORDER.amount);
        app.within(fromNodeSqlite(app.database)).triggerHook("pay", ORDER);
        app.database.exec("commit");
      },
      check: (app, { paid }) => ({ written: payments(app), paid: new Set(paid).size }),
    });
    expect(commits(report)[0]).toBe("the application's own transaction");
    expect(report.outcomes.map(({ outcome }) => outcome)).toEqual([
      { written: 1, paid: 1 },
      { written: 0, paid: 0 },
    ]);
  });

  test("don't lose retries, and what a hook triggers", async () => {
    const { outcomes, runs } = await exploreCrashes(
      {
        setUp() {
          const done = new Set<string>();
          let app: TestApp<{ first: HookDefinition<string, string>; second: HookDefinition<string, string> }>;
          const first = defineHook(async (id: string, hook): Promise<void> => {
            if (hook.attempts === 1) throw new Error("not yet");
            await app.hooks.second.trigger(`${id} too`, { id: "second" });
            done.add(id);
          });
          const second = defineHook((id: string) => void done.add(id));
          const use = (one: typeof app) => {
            app = one;
          };
          return { hooks: { first, second }, done, use };
        },
        async run(app, { use }) {
          use(app);
          await app.hooks.first.trigger("a", { id: "first" });
        },
        check: (_app, { done }) => [...done].sort(),
      },
      { runAgain: true },
    );
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([["a", "a too"]]);
    expect(runs).toBeGreaterThan(12);
  });
});

describe("a scenario", () => {
  test("comes out the same each time it is explored", async () => {
    const explore = () =>
      exploreCrashes({
        setUp() {
          const seen: string[] = [];
          const note = defineHook((text: string, hook) => void seen.push(`${text} ${hook.hookId} ${hook.attempts}`));
          return { hooks: { note }, seen };
        },
        run: (app) => Promise.all(["a", "b", "c"].map((text) => app.hooks.note.trigger(text))),
        check: (_app, { seen }) => seen,
      });
    const first = await explore();
    expect(first.outcomes.length).toBeGreaterThan(1);
    expect(await explore()).toEqual(first);
  });

  test("that throws says where it crashed", async () => {
    const explored = exploreCrashes({
      setUp() {
        let runs = 0;
        return { hooks: { note: defineHook(() => void runs++) }, runs: () => runs };
      },
      run: (app) => app.hooks.note.trigger(),
      check: (_app, { runs }) => {
        if (runs() !== 1) throw new Error(`it ran ${runs()} times`);
      },
    });
    await expect(explored).rejects.toMatchObject({
      code: "testing.scenario_failed",
      message: "The scenario threw with a crash before commit 1 (trigger note): it ran 0 times",
    });
  });

  test("that needs too many runs is refused", async () => {
    const scenario = {
      setUp: () => ({ hooks: { note: defineHook(() => {}) } }),
      run: async (app: TestApp<{ note: HookDefinition<unknown, unknown> }>) => app.hooks.note.trigger(),
      check: () => null,
    };
    await expect(exploreCrashes(scenario, { maxRuns: 6 })).rejects.toMatchObject({ code: "testing.too_many_runs" });
    expect((await exploreCrashes(scenario, { maxRuns: 7 })).runs).toBe(7);
    for (const wrong of [null, {}, { ...scenario, run: 5 }]) {
      await expect(exploreCrashes(wrong as never)).rejects.toMatchObject({ code: "options.invalid" });
    }
  });
});
