import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { defineWorkflow, perdure, type WorkflowEvent } from "../../src/index.ts";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const waits = defineWorkflow({ name: "waits" }, async (event: WorkflowEvent<unknown>, step) => {
  const first = await step.waitForEvent<string>("first", { type: "note", timeout: "1 hour" });
  const second = await step.waitForEvent<string>("second", { type: "note", timeout: "1 hour" });
  return [event.payload, first.payload, second.payload];
});

const limited = defineWorkflow(
  { name: "limited", concurrency: { limit: 1 } },
  async (event: WorkflowEvent<string>) => event.payload,
);
const checked = defineWorkflow(
  { name: "checked", input: z.string().refine(async (text) => text !== "refused") },
  async (event) => event.payload,
);

describe.each([...ENGINES, ENCRYPTED_SQLITE])("a unit of work on $name", (engine) => {
  async function start() {
    const database = await engine.create();
    closers.push(() => database.dispose());
    const app = await perdure({ database: database.adapter, workflows: { waits, limited, checked } });
    closers.push(() => app.stop());
    return app;
  }

  test("creates instances and sends them events in order when it commits", async () => {
    const app = await start();
    const created = await app.unitOfWork(async (uow) => {
      const { id } = uow.workflows.waits.create({ id: "a", params: "p" });
      uow.workflows.waits.sendEvent({ to: id, type: "note", payload: "one" });
      uow.sendEvent({ workflow: waits, id }, { type: "note", payload: "two" });
      return [id, uow.workflows.limited.create({ params: "x" }).id];
    });
    expect(await (await app.workflows.waits.get("a")).result()).toEqual(["p", "one", "two"]);
    expect(await (await app.workflows.limited.get(created[1] as string)).result()).toBe("x");
  });

  test("refuses an event for a workflow or an instance that can't be", async () => {
    const app = await start();
    const send = (workflow: string, id: string) =>
      app.unitOfWork(async (uow) => uow.sendEvent({ workflow, id }, { type: "note" }));
    await expect(send("missing", "a")).rejects.toMatchObject({ code: "workflow.not_found" });
    await expect(send("waits", "")).rejects.toMatchObject({ code: "id.invalid" });
    await expect(send("waits", "nowhere")).rejects.toMatchObject({ code: "instance.not_found" });
  });

  test("keeps nothing when its function rejects", async () => {
    const app = await start();
    const failing = app.unitOfWork(async (uow) => {
      uow.workflows.limited.create({ id: "a", params: "x" });
      throw new Error("mine");
    });
    await expect(failing).rejects.toThrow("mine");
    await expect(app.workflows.limited.get("a")).rejects.toThrow("instance.not_found");
  });

  test("is rolled back when an id is taken, unless the caller wants the instance that has it", async () => {
    const app = await start();
    await app.workflows.waits.create({ id: "a", params: "old" });
    const taken = app.unitOfWork(async (uow) => {
      uow.workflows.limited.create({ id: "new", params: "x" });
      uow.workflows.waits.create({ id: "a", params: "p" });
    });
    await expect(taken).rejects.toMatchObject({ code: "instance.already_exists" });
    await expect(app.workflows.limited.get("new")).rejects.toThrow("instance.not_found");
    for (const payload of ["one", "two"]) {
      await app.unitOfWork(async (uow) => {
        uow.workflows.waits.createOrSend({ id: "a", params: "p", event: { type: "note", payload } });
      });
    }
    expect(await (await app.workflows.waits.get("a")).result()).toEqual(["old", "one", "two"]);
  });

  test("is rolled back when an event has no recipient, or when a schema refuses params", async () => {
    const app = await start();
    const lost = app.unitOfWork(async (uow) => {
      uow.workflows.limited.create({ id: "a", params: "x" });
      uow.workflows.waits.sendEvent({ to: "nowhere", type: "note", payload: "one" });
    });
    await expect(lost).rejects.toMatchObject({ code: "instance.not_found" });
    const refused = app.unitOfWork(async (uow) => {
      uow.workflows.limited.create({ id: "a", params: "x" });
      uow.workflows.checked.create({ params: "refused" });
    });
    await expect(refused).rejects.toMatchObject({ code: "params.invalid" });
    expect((await app.workflows.limited.list()).instances).toEqual([]);
  });

  test("refuses calls of the application that would not be part of it", async () => {
    const app = await start();
    const other = await app.workflows.waits.create({ id: "other", params: "p" });
    await app.unitOfWork(async (uow) => {
      await expect(app.workflows.limited.create({ id: "a", params: "x" })).rejects.toMatchObject({
        code: "transaction.nested",
      });
      await expect(other.sendEvent({ type: "note", payload: "one" })).rejects.toMatchObject({
        code: "transaction.nested",
      });
      uow.workflows.limited.create({ id: "b", params: "x" });
    });
    expect(await (await app.workflows.limited.get("b")).result()).toBe("x");
    await expect(app.workflows.limited.get("a")).rejects.toThrow("instance.not_found");
  });

  test("refuses operators' calls, which would stay if it were rolled back", async () => {
    const app = await start();
    const other = await app.workflows.waits.create({ id: "other", params: "p" });
    const calls = [
      () => other.pause(),
      () => other.resume(),
      () => other.restart(),
      () => other.terminate(),
      () => other.delete(),
      () => app.workflows.waits.deleteBatch(["other"]),
      () => app.workflows.waits.restartOrCreate({ id: "other", params: "p", when: "always" }),
      () => app.schedules.pause({ workflow: "limited" }),
      () => app.schedules.resume({ workflow: "limited" }),
      () => app.durableHooks.cancel("a"),
      () => app.durableHooks.redrive(["a"]),
      () => app.durableHooks.discard(["a"]),
    ];
    await app.unitOfWork(async () => {
      for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "transaction.nested" });
    });
    expect(await other.status()).toMatchObject({ run: 1, status: expect.stringMatching(/queued|running|waiting/) });
  });

  test("refuses calls that lack their arguments, and keeps nothing of them", async () => {
    const app = await start();
    const refused: unknown[] = [];
    await app.unitOfWork(async (uow) => {
      const { sendEvent, createOrSend } = uow.workflows.waits as unknown as Record<
        string,
        (...given: unknown[]) => void
      >;
      const calls = [
        () => sendEvent?.(),
        () => sendEvent?.("a", { type: "note" }),
        () => sendEvent?.({ to: "a", type: "note", playload: 1 }),
        () => createOrSend?.(),
        () => createOrSend?.({ params: "p", event: { type: "note" } }),
        () => createOrSend?.({ id: "a", params: "p" }),
        () => createOrSend?.({ id: "a", params: "p", event: { type: "not a type" } }),
      ];
      for (const call of calls) {
        try {
          call();
          refused.push("accepted");
        } catch (error) {
          refused.push((error as { code?: unknown }).code);
        }
      }
    });
    const events = Array(3).fill("event.invalid");
    expect(refused).toEqual([...events, "create.invalid", "create.invalid", "event.invalid", "id.invalid"]);
    expect((await app.workflows.waits.list()).instances).toEqual([]);
  });

  test("takes no calls after its end", async () => {
    const app = await start();
    const uow = await app.unitOfWork(async (given) => ({ given }));
    expect(() => uow.given.workflows.limited.create({ params: "x" })).toThrow(
      expect.objectContaining({ code: "transaction.finished" }),
    );
  });

  test("runs beside thirty others that create instances", async () => {
    const app = await start();
    const ids = Array.from({ length: 30 }, (_, index) => `i${index}`);
    await Promise.all(
      ids.map((id) =>
        app.unitOfWork(async (uow) => {
          await uow.sql`select 1 as one`;
          uow.workflows.limited.create({ id, params: id });
        }),
      ),
    );
    const results = await Promise.all(ids.map(async (id) => (await app.workflows.limited.get(id)).result()));
    expect(results).toEqual(ids);
  });
});
