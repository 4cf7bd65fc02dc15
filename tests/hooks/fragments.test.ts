import { describe, expect, test } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { createDurableHooksProcessor, type DurableHooksProcessor } from "../../src/fragment/create-processor.ts";
import { defineFragment } from "../../src/fragment/define-fragment.ts";
import { instantiate } from "../../src/fragment/instantiate.ts";
import { migrate } from "../../src/fragment/migrate.ts";
import type { FragmentTables } from "../../src/store/migration.ts";
import { ENGINES } from "../support/engines.ts";
import { LogBook } from "./support/log-book.ts";

interface Mailer {
  readonly sent: string[];
}

interface Order {
  readonly id: string;
  readonly email: string;
}

const ordersTables: FragmentTables = {
  migrations: [
    {
      name: "orders",
      sqlite: "create table orders (id text primary key, email text not null) strict",
      postgres: "create table orders (id text primary key, email text not null)",
    },
  ],
};

const orders = defineFragment<{ mail: Mailer }>("orders")
  .withDatabase(ordersTables)
  .provideHooks(({ config, defineHook }) => ({
    onOrderPlaced: defineHook({ retries: { limit: 8 } }, (order: Order) => {
      config.mail.sent.push(order.email);
    }),
  }))
  .provideServices(({ config, unitOfWork }) => ({
    placeOrder: (order: Order) =>
      unitOfWork(async (uow) => {
        await uow.sql`insert into orders (id, email) values (${order.id}, ${order.email})`;
        uow.triggerHook("onOrderPlaced", order);
        return order.id;
      }),
    countOrders: () => unitOfWork(async (uow) => (await uow.sql`select id from orders`).length),
    sent: () => config.mail.sent,
  }))
  .build();

const silent = defineFragment("silent")
  .provideServices(() => ({ answer: () => 42 }))
  .build();

describe.each(ENGINES)("fragments on $name", (engine) => {
  /** An empty database; whatever is opened is closed at the end. */
  async function withDatabase(body: (database: Awaited<ReturnType<typeof engine.createEmpty>>) => Promise<void>) {
    const database = await engine.createEmpty({ logger: new LogBook() });
    try {
      await body(database);
    } finally {
      await database.dispose();
    }
  }

  async function drain(processor: DurableHooksProcessor | null): Promise<void> {
    if (processor === null) throw new Error("Expected something to run.");
    await createDurableHooksDispatcher({ processor }).drain();
  }

  test("have tables, hooks and services of their own", async () => {
    await withDatabase(async ({ adapter: databaseAdapter }) => {
      const mail: Mailer = { sent: [] };
      const fragment = instantiate(orders).withConfig({ mail }).withOptions({ databaseAdapter }).build();
      await migrate(fragment);

      expect(fragment.namespace).toBe("orders");
      expect(await fragment.services.placeOrder({ id: "1", email: "ada@example.org" })).toBe("1");
      expect((await fragment.durableHooks.list()).hooks).toMatchObject([
        { namespace: "orders", name: "onOrderPlaced" },
      ]);
      await drain(createDurableHooksProcessor(fragment));
      expect(fragment.services.sent()).toEqual(["ada@example.org"]);
      expect(await fragment.services.countOrders()).toBe(1);
    });
  });

  test("write their data and their hooks in one transaction, or neither", async () => {
    await withDatabase(async ({ adapter: databaseAdapter }) => {
      const fragment = instantiate(orders)
        .withConfig({ mail: { sent: [] } })
        .withOptions({ databaseAdapter })
        .build();
      await migrate(fragment);
      await fragment.services.placeOrder({ id: "1", email: "ada@example.org" });
      await expect(fragment.services.placeOrder({ id: "1", email: "bob@example.org" })).rejects.toThrow(/unique/i);

      expect(await fragment.services.countOrders()).toBe(1);
      expect((await fragment.durableHooks.list()).hooks).toMatchObject([{ payload: { email: "ada@example.org" } }]);
    });
  });

  test("are migrated as often as one likes, also at the same time", async () => {
    await withDatabase(async ({ reopen }) => {
      const fragments = Array.from({ length: 4 }, () =>
        instantiate(orders)
          .withConfig({ mail: { sent: [] } })
          .withOptions({ databaseAdapter: reopen() })
          .build(),
      );
      await Promise.all(fragments.map((fragment) => migrate(fragment)));
      await migrate(fragments);

      for (const [index, fragment] of fragments.entries()) {
        await fragment.services.placeOrder({ id: String(index), email: "ada@example.org" });
      }
      expect(await fragments[0]?.services.countOrders()).toBe(4);
    });
  });

  test("say what to do when they aren't migrated", async () => {
    await withDatabase(async ({ adapter: databaseAdapter }) => {
      const definition = defineFragment("plain")
        .provideHooks(({ defineHook }) => ({ greet: defineHook((_: string) => {}) }))
        .build();
      const fragment = instantiate(definition).withOptions({ databaseAdapter }).build();
      const failure = fragment.unitOfWork(async (uow) => uow.triggerHook("greet", "ada"));

      await expect(failure).rejects.toMatchObject({
        name: "StoreError",
        code: "store.not_migrated",
        message: expect.stringContaining("Call migrate() first."),
      });
    });
  });

  test("can be instantiated more than once, each with its own configuration", async () => {
    await withDatabase(async ({ adapter: databaseAdapter, reopen }) => {
      const [first, second]: [Mailer, Mailer] = [{ sent: [] }, { sent: [] }];
      const base = instantiate(orders).withOptions({ databaseAdapter });
      const one = base.withConfig({ mail: first }).build();
      const two = base.withConfig({ mail: second }).withOptions({ databaseAdapter: reopen() }).build();
      await migrate(one);
      await one.services.placeOrder({ id: "1", email: "ada@example.org" });
      await drain(createDurableHooksProcessor(two));

      expect(first.sent).toEqual([]);
      expect(second.sent).toEqual(["ada@example.org"]);
    });
  });

  test("may have no hooks: then there is nothing for a dispatcher to run", async () => {
    await withDatabase(async ({ adapter: databaseAdapter }) => {
      const fragment = instantiate(silent).withOptions({ databaseAdapter }).build();
      await migrate(fragment);

      expect(fragment.services.answer()).toBe(42);
      expect(createDurableHooksProcessor(fragment)).toBeNull();
      expect(createDurableHooksProcessor([fragment])).toBeNull();
      expect(createDurableHooksProcessor([])).toBeNull();
    });
  });

  test("share one processor, also where their databases differ", async () => {
    await withDatabase(async ({ adapter, reopen }) => {
      await withDatabase(async (elsewhere) => {
        const ran: string[] = [];
        const define = (namespace: string) =>
          defineFragment(namespace)
            .provideHooks(({ defineHook }) => ({ run: defineHook((name: string) => void ran.push(name)) }))
            .build();
        const fragments = [
          instantiate(define("a")).withOptions({ databaseAdapter: adapter }).build(),
          instantiate(define("b")).withOptions({ databaseAdapter: adapter }).build(),
          instantiate(define("c")).withOptions({ databaseAdapter: reopen() }).build(),
          instantiate(define("a")).withOptions({ databaseAdapter: elsewhere.adapter }).build(),
        ];
        const quiet = instantiate(silent).withOptions({ databaseAdapter: adapter }).build();
        await migrate([...fragments, quiet]);
        for (const [index, fragment] of fragments.entries()) {
          await fragment.unitOfWork(async (uow) => uow.triggerHook("run", `hook ${index}`));
        }
        const processor = createDurableHooksProcessor([...fragments, quiet]);
        await drain(processor);

        expect(processor?.namespaces).toEqual(["a", "b", "c"]);
        expect(ran.toSorted()).toEqual(["hook 0", "hook 1", "hook 2", "hook 3"]);
        expect(await processor?.getNextWakeAt()).toBeNull();
      });
    });
  });

  test("of one namespace on one database can't be in a processor twice", async () => {
    await withDatabase(async ({ adapter: databaseAdapter }) => {
      const fragment = instantiate(orders)
        .withConfig({ mail: { sent: [] } })
        .withOptions({ databaseAdapter })
        .build();

      expect(() => createDurableHooksProcessor([fragment, fragment])).toThrow(
        expect.objectContaining({ code: "processor.invalid", message: 'The namespace "orders" appears twice.' }),
      );
    });
  });
});
