import { env, evictDurableObject, type ObjectId, type ObjectNamespace, runInDurableObject } from "cloudflare:test";
import { fromDurableObject } from "perdure";
import { beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { happened, note, type Shop, stepGates } from "./support/shop.ts";

describe("an object with workflows, hooks and subjects", () => {
  const namespace = env["SHOP"] as ObjectNamespace;
  let id: ObjectId;
  let order: string;
  beforeEach(() => {
    id = namespace.newUniqueId();
    order = crypto.randomUUID();
  });

  const object = () => namespace.get(id);
  const inside = <Result>(body: (shop: Shop) => Result | Promise<Result>) =>
    runInDurableObject(object(), (shop: Shop) => body(shop));
  const alarm = () => runInDurableObject(object(), (_instance, { storage }) => storage.getAlarm());
  const abortObject = () =>
    runInDurableObject(object(), (_instance, state) => (state as unknown as { abort(): void }).abort()).catch(() => {});
  const create = (params: { total: number; nap?: number }) =>
    inside(async ({ app }) => (await app.workflows.checkout.create({ id: order, params })).id);
  const status = () => inside(async ({ app }) => (await (await app.workflows.checkout.get(order)).status()).status);

  test("runs a workflow to its end, and leaves no alarm behind", async () => {
    const output = await inside(async ({ app }) => {
      const instance = await app.workflows.checkout.create({ id: order, params: { total: 12 } });
      return instance.result();
    });

    expect(output).toEqual({ total: 12 });
    expect(happened.get(order)).toEqual(["charge", "book"]);
    await eventually(async () => expect(await alarm()).toBeNull());
  });

  test("writes rows and the result of a step in one transaction, and nothing if it fails", async () => {
    const rows = await inside(async ({ app }) => (await app.workflows.ledger.create({ id: order })).result());

    expect(rows).toEqual([{ attempt: 2 }]);
  });

  test("triggers a hook and sends an event from steps, once across all replays", async () => {
    const approved = inside(async ({ app }) => (await app.workflows.approval.create({ id: order })).result());
    await inside(async ({ app }) => (await app.workflows.caller.create({ id: order })).id);
    const called = () => inside(async ({ app }) => (await (await app.workflows.caller.get(order)).status()).status);
    await eventually(async () => expect(await called()).toBe("waiting"));
    await evictDurableObject(object());
    const output = await inside(async ({ app }) => (await app.workflows.caller.get(order)).result());

    expect(output).toEqual({ hook: expect.any(String), missing: "instance.not_found" });
    expect(await approved).toBe((output as { hook: string }).hook);
    expect(happened.get(order)).toEqual(["greeted"]);
  });

  test("runs hooks", async () => {
    await inside(({ app }) => app.hooks.greet.trigger(order));

    await eventually(() => expect(happened.get(order)).toEqual(["greeted"]));
  });

  test("triggers hooks in a transaction of its host's, and not if that is rolled back", async () => {
    await runInDurableObject(object(), ({ app }: Shop, { storage }) => {
      const triggerIn = (name: string) => app.within(fromDurableObject(storage)).triggerHook("greet", name);
      storage.transactionSync(() => triggerIn(order));
      expect(() =>
        storage.transactionSync(() => {
          triggerIn(`${order} undone`);
          throw new Error("It is rolled back.");
        }),
      ).toThrow("rolled back");
    });

    await eventually(() => expect(happened.get(order)).toEqual(["greeted"]));
    await eventually(async () => expect(await alarm()).toBeNull());
    expect(happened.get(`${order} undone`)).toBeUndefined();
  });

  test("creates instances and sends events in transactions of its host's, also by a handle that was kept", async () => {
    const kept = await runInDurableObject(object(), ({ app }: Shop, { storage }) => {
      const within = app.within(fromDurableObject(storage));
      const { approval } = within.workflows;
      storage.transactionSync(() => void approval.create({ id: order }));
      expect(() =>
        storage.transactionSync(() => {
          approval.create({ id: `${order}-undone` });
          throw new Error("It is rolled back.");
        }),
      ).toThrow("rolled back");
      return { within, storage };
    });
    const approved = () => inside(async ({ app }) => (await app.workflows.approval.get(order)).status());
    await eventually(async () => expect(await approved()).toMatchObject({ status: "waiting" }));
    const event = { type: "answered", payload: "yes" };
    await runInDurableObject(object(), () =>
      kept.storage.transactionSync(() => void kept.within.sendEvent({ workflow: "approval", id: order }, event)),
    );

    await eventually(async () => expect(await approved()).toMatchObject({ status: "complete", output: "yes" }));
    expect(await inside(({ app }) => app.workflows.approval.list())).toMatchObject({ instances: [{ id: order }] });
  });

  test("resumes a sleeping workflow by itself after it was evicted", async () => {
    await create({ total: 1, nap: 6000 });
    await eventually(async () => expect(await status()).toBe("waiting"));
    await eventually(async () => expect(await alarm()).toBeGreaterThan(Date.now() + 3000));
    await evictDurableObject(object());

    await eventually(() => expect(happened.get(order)).toEqual(["charge", "book"]));
  });

  test("resumes a workflow by itself in whose step it was lost", async () => {
    stepGates.set(order, new Promise(() => {}));
    await create({ total: 1 });
    await eventually(() => expect(happened.get(order)).toEqual(["charge"]));
    stepGates.delete(order);
    await abortObject();

    await eventually(() => expect(happened.get(order)).toEqual(["charge", "charge", "book"]));
    await eventually(async () => expect(await status()).toBe("complete"));
  });

  test("resumes a short wait by itself during which it was lost, and repeats no step", async () => {
    await create({ total: 1, nap: 1500 });
    await eventually(() => expect(happened.get(order)).toEqual(["charge"]));
    await eventually(async () => expect(await status()).toBe("waiting"));
    await abortObject();

    await eventually(() => expect(happened.get(order)).toEqual(["charge", "book"]));
  });

  test("serves its application over HTTP to authorized callers", async () => {
    await create({ total: 3 });
    const url = `https://shop/workflows/check-out/instances/${order}`;
    const refused = await object().fetch(url);
    const answered = await object().fetch(url, { headers: { authorization: "Bearer secret" } });

    expect(refused.status).toBe(403);
    expect(answered.status).toBe(200);
    expect(JSON.stringify(await answered.json())).toContain(order);
  });

  test("discovers subjects and handles them, and wakes up for the next time", async () => {
    const stocks = env["STOCK"] as ObjectNamespace;
    const stock = stocks.get(stocks.newUniqueId());
    note("stock of berlin", "test");
    await runInDurableObject(stock, () => {});

    await eventually(() => expect(happened.get("stock of berlin")).toEqual(["test", "counted"]));
    await eventually(async () => {
      const time = await runInDurableObject(stock, (_instance, { storage }) => storage.getAlarm());
      expect(time).toBeGreaterThan(Date.now() + 3_000_000);
    });
  });
});
