import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { follow } from "./support/followed.ts";
import { becomes } from "./support/sample.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const HOUR_MS = 3_600_000;

describe.each([...ENGINES, ENCRYPTED_SQLITE])("the inputs of an instance on $name", (engine) => {
  const subject = useWorkflows(engine);

  const waits = defineWorkflow({ name: "waits" }, async (_event: WorkflowEvent<unknown>, step) => {
    await step.waitForEvent("first", { type: "go", timeout: "1 day" });
    await step.waitForEvent("second", { type: "go", timeout: "1 day" });
  });

  test("are its params, its priority and its limits", async () => {
    const limited = defineWorkflow(
      {
        name: "limited",
        concurrency: { limit: 3, key: ({ tenant }: { tenant: string }) => tenant },
        rateLimit: { limit: 9, period: "1 minute" },
      },
      async (event: WorkflowEvent<{ tenant: string; at: Date }>) => event.payload.tenant,
    );
    const { workflows } = subject.process({ limited, waits });
    const params = { tenant: "acme", at: new Date(5) };
    const instance = await workflows.limited.create({ params, priority: 7 });
    const plain = await (await workflows.waits.create()).status();
    const code = { concurrency: { key: `${subject.namespace}/limited/acme`, limit: 3 } };

    expect(await instance.status()).toMatchObject({
      params,
      priority: 7,
      limits: { ...code, rateLimit: { key: `${subject.namespace}/limited`, limit: 9 } },
    });
    for (const name of ["priority", "limits", "schedule", "parent"]) expect(plain).not.toHaveProperty(name);
    expect(plain.params).toBeUndefined();
    const [listed] = (await workflows.limited.list()).instances;
    expect(listed).toMatchObject({ priority: 7, limits: code });
    expect(listed).not.toHaveProperty("params");
  });

  test("are the schedule that created it", async () => {
    const hourly = defineWorkflow({ name: "hourly", schedules: ["0 * * * *"] }, async () => {});
    const process = subject.start({ hourly });
    const first = await eventually(async () => {
      await subject.clock.advanceAndSettle(HOUR_MS);
      const [one] = (await process.workflows.hourly.list()).instances;
      return one ?? Promise.reject(new Error("It hasn't fired yet."));
    });

    expect(first.schedule).toEqual({ cron: "0 * * * *", scheduledTime: expect.any(Date) });
    const { schedule } = await (await process.workflows.hourly.get(first.id)).status();
    expect(Number(schedule?.scheduledTime) % HOUR_MS).toBe(0);
  });

  test("are the events that no step has received, the oldest first", async () => {
    const process = subject.start({ waits });
    const instance = await process.workflows.waits.create({ id: "one" });
    await becomes(instance, "waiting");
    expect(await instance.unreceivedEvents()).toEqual({ count: 0, events: [] });

    for (const [type, payload] of [["go", 1], ["other", { text: "two" }], ["bare"]] as const) {
      await instance.sendEvent({ type, payload });
      await subject.clock.advanceAndSettle(1000);
    }
    const { count, events } = await instance.unreceivedEvents();

    expect(count).toBe(2);
    expect(events.map(({ type, payload }) => [type, payload])).toEqual([
      ["other", { text: "two" }],
      ["bare", undefined],
    ]);
    expect(Number(events[1]?.at) - Number(events[0]?.at)).toBe(1000);
    await expect((await process.workflows.waits.get("one")).unreceivedEvents()).resolves.toEqual({ count, events });
    await instance.delete();
    await expect(instance.unreceivedEvents()).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("are no more than a hundred events, and no more than a mebibyte of payloads", async () => {
    const process = subject.process({ waits });
    const instance = await process.workflows.waits.create({ id: "one" });
    for (const payload of ["x".repeat(600_000), "y".repeat(600_000), "z"])
      await instance.sendEvent({ type: "a", payload });

    const { events } = await instance.unreceivedEvents();
    expect(events.map(({ payload, omitted }) => [typeof payload, omitted])).toEqual([
      ["string", undefined],
      ["undefined", true],
      ["undefined", true],
    ]);

    await Promise.all(Array.from({ length: 120 }, () => instance.sendEvent({ type: "b" })));
    const many = await instance.unreceivedEvents();
    expect([many.count, many.events.length]).toEqual([123, 100]);
  });

  test("don't contain the end of a child that has come and isn't received", async () => {
    const child = defineWorkflow({ name: "child" }, async () => "end");
    const parent = defineWorkflow({ name: "parent" }, async (_event, step, { workflows }) => {
      const one = await (workflows["child"] as never as { create(): Promise<never> }).create();
      return step.result(one);
    });
    const process = subject.start({ parent, child });
    const instance = await process.workflows.parent.create();
    await becomes(instance, "complete");
    expect(await instance.unreceivedEvents()).toEqual({ count: 0, events: [] });
  });

  test("are hidden from people where they are sensitive, in every process and after a restart, and not from the code", async () => {
    const seen: unknown[] = [];
    const run = async ({ payload }: WorkflowEvent<{ key: string }>) => void seen.push(payload.key);
    const secret = defineWorkflow({ name: "secret", sensitive: "params" }, run);
    const process = subject.start({ secret });
    const instance = await process.workflows.secret.create({ id: "one", params: { key: "hunter2" } });
    await becomes(instance, "complete");
    await instance.restart();
    await becomes(instance, "complete");
    const restarted = { id: "one", params: { key: "hunter3" } };
    await process.workflows.secret.restartOrCreate(restarted);
    await becomes(instance, "complete");
    expect(seen).toEqual(["hunter2", "hunter2", "hunter3"]);

    const open = defineWorkflow({ name: "secret" }, run); // as a process that doesn't know that they are sensitive
    const other = await subject.process({ secret: open }).workflows.secret.get("one");
    for (const one of [instance, other]) {
      const state = await one.status();
      const events = await follow(one);
      expect(state.params).toBe("[REDACTED]");
      expect(events.find(({ type }) => type === "workflow_started")).toMatchObject({ params: "[REDACTED]" });
      expect(JSON.stringify([state, events, await one.history(), await one.explain()])).not.toContain("hunter");
    }
    const opened = await subject.process({ secret: open }).workflows.secret.create({ params: { key: "plain" } });
    expect((await opened.status()).params).toEqual({ key: "plain" });
  });

  test("can be sensitive for a class, too", async () => {
    class Secret {
      async run() {}
    }
    const named = { name: "classy", workflow: Secret as never, sensitive: "params" } as const;
    const { workflows } = subject.process({ classy: named });
    const instance = await workflows.classy.create({ params: "hunter2" } as never);
    expect((await (instance as never as { status(): Promise<{ params: unknown }> }).status()).params).toBe(
      "[REDACTED]",
    );
    const wrong = () => defineWorkflow({ name: "x", sensitive: "output" as never }, async () => {});
    expect(wrong).toThrow(expect.objectContaining({ code: "workflow.invalid" }));
  });
});
