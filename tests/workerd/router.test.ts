import { env, type ObjectNamespace, runInDurableObject } from "cloudflare:test";
import { createObjectRouter } from "perdure/durable-object";
import { beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { happened, type Shop, workflows } from "./support/shop.ts";

const objects = env["SHOP"] as ObjectNamespace;

describe("workflows in many objects", () => {
  let prefix: string;
  let router: ReturnType<typeof createObjectRouter<typeof workflows>>["workflows"];
  let completeToken: ReturnType<typeof createObjectRouter<typeof workflows>>["completeToken"];
  beforeEach(() => {
    prefix = crypto.randomUUID();
    ({ workflows: router, completeToken } = createObjectRouter({ objects, workflows, shards: 4, prefix }));
  });

  const countIn = (shard: number) =>
    runInDurableObject(objects.get(objects.idFromName(`${prefix}-${shard}`)), async ({ app }: Shop) => {
      return (await app.workflows.checkout.list()).instances.length;
    });

  test("are spread by their ids, and found again", async () => {
    const ids = Array.from({ length: 40 }, (_, index) => `order-${index}`);
    await router.checkout.createBatch(ids.map((id) => ({ id, params: { total: 1 } })));
    const counts = await Promise.all([0, 1, 2, 3].map(countIn));

    expect(counts.reduce((sum, count) => sum + count)).toBe(40);
    expect(Math.min(...counts)).toBeGreaterThan(2);
    expect((await router.checkout.get("order-17")).id).toBe("order-17");
  });

  test("are created in batches as large as the workflowLimits of the router allow", async () => {
    const batch = Array.from({ length: 101 }, (_, index) => ({ id: `many-${index}`, params: { total: 1 } }));
    await expect(router.checkout.createBatch(batch)).rejects.toThrow(/at most 100 instances/);

    const { checkout } = createObjectRouter({
      ...{ objects, workflows, shards: 4, prefix },
      workflowLimits: { batchSize: 1000, instanceIdLength: 120 },
    }).workflows;
    expect(await checkout.createBatch(batch)).toHaveLength(101);
    const { errors } = await checkout.createBatch({ count: 101, params: { total: 1 } });
    expect(errors).toEqual([]);
    expect((await checkout.deleteBatch(batch.map(({ id }) => id))).deleted).toHaveLength(101);
    await expect(router.checkout.get("x".repeat(120))).rejects.toMatchObject({ code: "id.invalid" });
    await expect(checkout.createBatch({ count: 1001, params: { total: 1 } })).rejects.toThrow(/from 0 to 1000/);
  });

  test("tell the object's onAudit of what a router changes", async () => {
    const id = `audited-${crypto.randomUUID()}`;
    const instance = await router.approval.create({ id });
    await instance.pause();
    await instance.resume();
    await instance.terminate();
    await expect(instance.pause()).rejects.toMatchObject({ code: "instance.finished" });
    expect(happened.get(`audit of ${id}`)).toEqual(
      ["pauseInstance", "resumeInstance", "terminateInstance", "pauseInstance"].map((action) => `${action} by null`),
    );
  });

  test("are counted by version over all objects", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `version-${index}`);
    await router.approval.createBatch(ids.map((id) => ({ id })));
    expect(await router.approval.versions()).toEqual([{ version: null, unfinished: 12, registered: true }]);
    const one = await router.approval.get("version-0");
    await one.restart({ version: "newest" });
    await eventually(async () => expect(await one.status()).toMatchObject({ run: 2 }));
    await expect(one.restart({ version: "oldest" as never })).rejects.toMatchObject({ code: "options.invalid" });
  });

  test("give results as they were, whatever they are", async () => {
    const paid = new Date(1234567890123);
    const order = await router.checkout.create({ params: { total: 5, paid } });

    expect(await order.result()).toEqual({ total: 5, paid });
    expect(order.workflowName).toBe("check-out");
    expect(await order.status()).toMatchObject({ status: "complete", output: { total: 5, paid } });
    expect((await order.history()).entries).toHaveLength(2);
  });

  test("receive events, and fail with the errors of their code", async () => {
    const [yes, no] = await router.approval.createBatch([{ id: "yes" }, { id: "no" }]);
    await yes?.sendEvent({ type: "answered", payload: "yes" });
    await no?.sendEvent({ type: "answered", payload: "no" });

    expect(await yes?.result()).toBe("yes");
    const failure = await no?.result().catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: "WorkflowFailedError", code: "workflow.failed" });
    expect((failure as Error).cause).toMatchObject({ name: "RangeError", message: "It was refused." });
  });

  test("are paused, resumed, restarted, terminated and deleted", async () => {
    const instance = await router.approval.create({ id: "one" });
    await instance.pause();
    await eventually(async () => expect((await instance.status()).status).toBe("paused"));
    await instance.resume();
    await instance.terminate();
    expect((await instance.status()).status).toBe("terminated");
    await instance.restart();
    expect((await instance.status()).run).toBe(2);
    await instance.delete();
    await expect(router.approval.get("one")).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("refuse what one object would refuse, with errors of the same classes", async () => {
    await router.checkout.create({ id: "twice", params: { total: 1 } });

    await expect(router.checkout.create({ id: "twice", params: { total: 1 } })).rejects.toMatchObject({
      name: "ConflictError",
      code: "instance.already_exists",
    });
    await expect(router.checkout.get("nobody")).rejects.toMatchObject({ code: "instance.not_found" });
    await expect(router.checkout.list({ limit: 0 })).rejects.toMatchObject({ name: "InvalidInputError" });
    await expect(router.checkout.create({ id: "", params: { total: 1 } })).rejects.toMatchObject({
      name: "InvalidInputError",
    });
    expect(await router.checkout.createBatch([{ id: "twice", params: { total: 1 } }])).toEqual([]);
  });

  test("are created one by one, and errors name the index of each that is refused", async () => {
    await router.checkout.create({ id: "there", params: { total: 1 } });
    const wanted = ["first", "there", "", "last"].map((id) => ({ id, params: { total: 1 } }));
    const { created, errors } = await router.checkout.createBatch({ instances: wanted });

    expect(created.map(({ id }) => id)).toEqual(["first", "last"]);
    expect(errors).toMatchObject([
      { index: 1, id: "there", code: "instance.already_exists" },
      { index: 2, id: "", code: "id.invalid" },
    ]);
    expect((await router.checkout.createBatch({ count: 5, params: { total: 2 } })).created).toHaveLength(5);
    expect(await router.checkout.counts()).toMatchObject({ total: 8 });
  });

  test("are run again, or created where there are none", async () => {
    const options = { id: "daily", params: { total: 1 } };
    const { instance, outcome } = await router.checkout.restartOrCreate(options);
    await instance.result();

    expect(outcome).toBe("created");
    expect((await router.checkout.restartOrCreate(options)).outcome).toBe("restarted");
    expect((await instance.status()).run).toBe(2);
  });

  test("are created with an event, or sent it", async () => {
    const event = { type: "answered", payload: "yes" };
    const { instance, outcome } = await router.approval.createOrSend({ id: "quick", event });

    expect([outcome, await instance.result()]).toEqual(["created", "yes"]);
    await router.approval.create({ id: "slow" });
    expect((await router.approval.createOrSend({ id: "slow", event })).outcome).toBe("sent");
  });

  test("receive an event by label in all objects, once", async () => {
    const labels = { tenant: "acme" };
    const ids = Array.from({ length: 12 }, (_, index) => `labelled-${index}`);
    const instances = await router.approval.createBatch(ids.map((id) => ({ id, labels })));
    const event = { labels, type: "answered", payload: "yes", id: "call-1" };

    expect(await router.approval.sendEventToAll(event)).toEqual({ sent: 12, full: 0 });
    for (const instance of instances) expect(await instance.result()).toBe("yes");
    expect(await router.approval.sendEventToAll(event)).toEqual({ sent: 0, full: 0 });
  });

  test("end the wait of a token, in the object that has its instance", async () => {
    const id = `signed-${prefix}`;
    const instance = await router.signed.create({ id });
    const token = await eventually(() => {
      const [value] = happened.get(id) ?? [];
      expect(value).toBeDefined();
      return value as string;
    });
    await expect(completeToken("A".repeat(60))).rejects.toMatchObject({ code: "token.invalid" });
    await completeToken(token, "Ada");

    expect(await instance.result()).toBe("Ada");
    await expect(completeToken(token, "Bob")).rejects.toMatchObject({ code: "token.used" });
    await instance.delete();
    await expect(completeToken(token, "Bob")).rejects.toMatchObject({ code: "token.revoked" });
  });

  test("are deleted many at once, wherever they are", async () => {
    const child = (await (await router.parent.create({ id: "parent" })).result()) as string;
    await router.checkout.createBatch(["a", "b", "c"].map((id) => ({ id, params: { total: 1 } })));
    const { deleted, errors } = await router.checkout.deleteBatch(["a", "nobody", child, "c", "a"]);

    expect(deleted.map(({ id }) => id)).toEqual(["a", child, "c", "a"]);
    expect(errors).toMatchObject([{ index: 1, id: "nobody", code: "instance.not_found" }]);
    expect((await router.checkout.list()).instances.map(({ id }) => id)).toEqual(["b"]);
  });

  test("find the children that their instances make in objects of their own", async () => {
    const parent = await router.parent.create({ id: "parent" });
    const childId = await parent.result();
    const child = await router.checkout.get(childId as string);

    expect(await child.result()).toEqual({ total: 7 });
  });

  test.each(["oldest", "newest"] as const)("are listed page by page over all objects, the %s first", async (order) => {
    const created: string[] = [];
    for (let index = 0; index < 25; index++) {
      created.push((await router.checkout.create({ id: `n-${index}`, params: { total: index } })).id);
    }
    const wanted = order === "oldest" ? created : created.toReversed();
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof router.checkout.list>> = await router.checkout.list({
        order,
        limit: 7,
        ...(cursor !== null && { cursor }),
      });
      expect(page.instances.length).toBeLessThanOrEqual(7);
      seen.push(...page.instances.map(({ id }) => id));
      cursor = page.cursor;
      // What comes in meanwhile moves nothing.
      if (order === "newest") await router.checkout.create({ params: { total: 0 } });
    } while (cursor !== null);

    expect(seen.toSorted()).toEqual(wanted.toSorted());
    const drift = seen.map((id, index) => Math.abs(wanted.indexOf(id) - index));
    expect(Math.max(...drift)).toBeLessThan(5); // objects whose clocks show the same millisecond
  });
});
