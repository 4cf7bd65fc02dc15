import { env, type ObjectNamespace, runInDurableObject } from "cloudflare:test";
import { createObjectRouter, type RoutedWorkflowInstance } from "perdure/durable-object";
import { beforeEach, describe, expect, test, vi } from "vitest";
import type { WorkflowRuntime } from "../../src/workflows/workflow-runtime.ts";
import { eventually } from "../support/eventually.ts";
import { type Shop, workflows } from "./support/shop.ts";

interface Told {
  readonly type: string;
  readonly eventId: number;
}

const objects = env["SHOP"] as ObjectNamespace;

describe("the events of instances in many objects", () => {
  let prefix: string;
  let instance: RoutedWorkflowInstance;
  beforeEach(async () => {
    prefix = crypto.randomUUID();
    const { approval } = createObjectRouter({ objects, workflows, shards: 1, prefix }).workflows;
    instance = (await approval.create({ id: "one" })) as RoutedWorkflowInstance;
  });

  const object = () => objects.get(objects.idFromName(`${prefix}-0`));
  const abortObject = () =>
    runInDurableObject(object(), (_instance, state) => (state as unknown as { abort(): void }).abort()).catch(() => {});
  const answer = (payload: string) => instance.sendEvent({ type: "answered", payload });

  /** Reads until an event of this type has come, or to the end. */
  async function readUntil(subscription: { next(): Promise<IteratorResult<Told, void>> }, last?: string) {
    const events: Told[] = [];
    for (;;) {
      const { done, value } = await subscription.next();
      if (done) return events;
      events.push(value);
      if (value.type === last) return events;
    }
  }
  const typesOf = (events: readonly { readonly type: string }[]) => events.map(({ type }) => type);

  test("are delivered as they happen, to the end of the run", async () => {
    const subscription = await instance.subscribe();
    const before = await readUntil(subscription, "wait_started");
    await answer("yes");
    const after = await readUntil(subscription);

    expect(typesOf(before)).toContain("workflow_started");
    expect(typesOf(after)).toEqual(expect.arrayContaining(["wait_completed", "workflow_completed"]));
    expect(after.at(-1)).toMatchObject({ type: "workflow_completed", output: "yes", instanceId: "one", run: 1 });
    expect(await subscription.next()).toEqual({ done: true, value: undefined });
  });

  test("are delivered again after a cursor, and only those that a filter names", async () => {
    await answer("yes");
    await instance.result();
    const filter = ["wait_started", "wait_completed"] as const;
    const events = await Array.fromAsync(await instance.subscribe({ filter }));
    const rest = await Array.fromAsync(await instance.subscribe({ filter, cursor: events[0]?.eventId as number }));

    expect(typesOf(events)).toEqual(["wait_started", "wait_completed"]);
    expect(rest).toEqual(events.slice(1));
  });

  test("are reported once and in order by a subscription that loses its object", async () => {
    const subscription = await instance.subscribe();
    const before = await readUntil(subscription, "wait_started");
    await abortObject();
    await answer("yes");
    const ids = [...before, ...(await readUntil(subscription))].map(({ eventId }) => eventId);

    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(new Set(ids).size).toBe(ids.length);
    const whole = await Array.fromAsync(await instance.subscribe({ filter: ["wait_started", "workflow_completed"] }));
    expect(ids).toEqual(expect.arrayContaining(whole.map(({ eventId }) => eventId)));
  });

  test("are those of the requested run, even if the object is lost before the first one", async () => {
    const subscription = await instance.subscribe({ filter: ["workflow_terminated", "workflow_completed"] });
    await instance.terminate();
    await abortObject();
    await instance.restart();
    await answer("yes");

    expect(await subscription.next()).toMatchObject({ value: { type: "workflow_terminated", run: 1 } });
  });

  test("are no longer reported to a cancelled subscription", async () => {
    const leave = await runInDurableObject(object(), ({ app }: Shop) =>
      vi.spyOn((app.parts.workflows as WorkflowRuntime).watchers, "leave"),
    );
    const subscription = await instance.subscribe();
    await readUntil(subscription, "wait_started");
    const waiting = subscription.next();
    await subscription.return();

    expect(await waiting).toEqual({ done: true, value: undefined });
    await eventually(() => expect(leave).toHaveBeenCalled());
  });

  test("is refused where there is nothing to tell, with errors of the same classes", async () => {
    await expect(instance.subscribe({ cursor: -1 })).rejects.toMatchObject({
      name: "InvalidInputError",
      code: "cursor.invalid",
    });
    await expect(instance.subscribe({ cursor: 10 ** 14 })).rejects.toMatchObject({ code: "cursor.invalid" });
    const subscription = await instance.subscribe();
    await readUntil(subscription, "wait_started");
    await instance.delete();

    await expect(readUntil(subscription)).rejects.toMatchObject({ name: "NotFoundError", code: "instance.not_found" });
    await expect(instance.subscribe()).rejects.toMatchObject({ code: "instance.not_found" });
  });
});
