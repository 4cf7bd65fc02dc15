import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import { ENGINES, type TestStore } from "../support/engines.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };

describe.each(ENGINES)("a step on $name", (engine) => {
  let database: TestStore;
  beforeEach(async () => {
    database = await engine.create();
  });
  afterEach(() => database.dispose());

  test("triggers a hook once, though the workflow is replayed", async () => {
    const mails: string[] = [];
    const mailed = Promise.withResolvers<void>();
    const mail = defineHook({}, async (to: string) => {
      mails.push(to);
      if (mails.length === 2) mailed.resolve();
    });
    const workflow = defineWorkflow({ name: "mails" }, async (_event, step) => {
      const first = await step.trigger(mail, "one");
      const second = await step.trigger("mail", "two");
      await step.do("fails once", { retries: { limit: 1, delay: "6 seconds" } }, ({ attempt }) => {
        if (attempt === 1) throw new Error("not yet");
      });
      return [first.id, second.id];
    });
    await using app = await perdure({
      database: database.reopen(),
      hooks: { mail },
      workflows: { workflow },
      logger: silent,
    });
    const instance = await app.workflows.workflow.create({ id: "one" });
    await mailed.promise;
    const ids = (await instance.result()) as string[];

    expect(mails.toSorted()).toEqual(["one", "two"]);
    expect(new Set(ids).size).toBe(2);
    const { entries } = await instance.history();
    expect(entries.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
      "trigger mail completed",
      "trigger mail completed",
      "fails once failed",
      "fails once completed",
    ]);
  });

  test("can trigger a hook through the application, but the workflow's own code is warned of its replays", async () => {
    const warnings: unknown[] = [];
    const warn = (message: string, details?: Record<string, unknown>) => void warnings.push({ message, ...details });
    const done = Promise.withResolvers<void>();
    const last = defineHook({}, async () => done.resolve());
    const handles = () => app.hooks; // a workflow is defined before its application
    const between = defineHook({}, async () => void (await handles().last.trigger(undefined)));
    const elsewhere = defineHook({}, async () => {});
    const workflow = defineWorkflow({ name: "mails" }, async (_event, step) => {
      await handles().between.trigger(undefined);
      await handles().between.trigger(undefined);
      await handles().elsewhere.trigger(undefined, { id: "once" });
      await step.do("inside", async () => void (await handles().elsewhere.trigger(undefined)));
      await step.trigger(elsewhere, undefined);
    });
    await using app = await perdure({
      database: database.reopen({ logger: { ...silent, warn } }),
      hooks: { between, elsewhere, last },
      workflows: { workflow },
      logger: silent,
    });
    await (await app.workflows.workflow.create({ id: "one" })).result();
    await done.promise;

    const message = expect.stringContaining("every replay triggers it again. Use step.trigger");
    expect(warnings).toEqual([{ message, workflow: "mails", instance: "one", hookName: "between" }]);
  });

  test("is warned of instances, events and triggers that its workflow's own code would repeat", async () => {
    const warnings: unknown[] = [];
    const warn = (message: string, details?: Record<string, unknown>) => void warnings.push({ message, ...details });
    const mail = defineHook({}, async (_to: string) => {});
    const application = () => app; // a workflow is defined before its application
    const other = defineWorkflow({ name: "other" }, async (_event, step) => {
      await step.waitForEvent("wait", { type: "never", timeout: "1 hour" });
    });
    const everything = async (id?: string) => {
      const { workflows, unitOfWork } = application();
      const own = id === undefined ? {} : { id };
      const at = (place: string) => (id === undefined ? {} : { id: `${place}-${id}` });
      await workflows.other.create(at("created"));
      await workflows.other.createBatch([at("batch")]);
      const one = await workflows.other.get("one");
      await one.sendEvent({ type: "asked", payload: 1, ...own });
      await workflows.other.createOrSend({ id: "one", event: { type: "asked", payload: 1, ...own } });
      await unitOfWork(async (uow) => {
        uow.triggerHook("mail", "to", at("unit"));
        uow.workflows.other.create(at("unit"));
        uow.workflows.other.sendEvent({ to: "one", type: "asked-in-a-unit", payload: 1, ...own });
      });
    };
    const inside = defineWorkflow({ name: "inside" }, async (_event, step) => {
      await step.do("everything", () => everything());
      await step.create(other);
      await step.sendEvent({ workflow: other, id: "one" }, { type: "asked", payload: 1 });
      await step.trigger(mail, "to");
    });
    const named = defineWorkflow({ name: "named" }, async () => everything("once"));
    const between = defineWorkflow({ name: "between" }, async (_event, step) => {
      await everything();
      await step.do("step", () => {});
      await everything();
    });
    await using app = await perdure({
      database: database.reopen({ logger: { ...silent, warn } }),
      hooks: { mail },
      workflows: { other, inside, named, between },
      logger: silent,
    });
    await app.workflows.other.create({ id: "one" });
    await everything();
    await (await app.workflows.inside.create({ id: "inside" })).result();
    await (await app.workflows.named.create({ id: "named" })).result();
    expect(warnings).toEqual([]);
    await (await app.workflows.between.create({ id: "between" })).result();

    const code = { workflow: "between", instance: "between" };
    const [creates, sends, triggers] = [
      expect.stringContaining("every replay creates another one. Use step.create"),
      expect.stringContaining("every replay sends it again. Use step.sendEvent"),
      expect.stringContaining("every replay triggers it again. Use step.trigger"),
    ];
    expect(warnings).toEqual([
      { message: creates, ...code, createdWorkflow: "other" },
      { message: sends, ...code, eventType: "asked", receivingWorkflow: "other" },
      { message: triggers, ...code, hookName: "mail" },
      { message: sends, ...code, eventType: "asked-in-a-unit", receivingWorkflow: "other" },
    ]);
  });

  test("refuses a hook that isn't registered", async () => {
    const strange = defineHook({}, async (_to: string) => {});
    const codes: unknown[] = [];
    const note = (error: { code?: unknown }) => void codes.push(error.code);
    const workflow = defineWorkflow({ name: "strange" }, async (_event, step) => {
      await step.trigger(strange, "one").catch(note);
      await step.trigger("none").catch(note);
    });
    await using app = await perdure({ database: database.reopen(), workflows: { workflow }, logger: silent });
    await (await app.workflows.workflow.create({ id: "one" })).result();

    expect(codes).toEqual(["hook.unknown", "hook.unknown"]);
  });

  test("sends an event once, and fails if the instance isn't there", async () => {
    const receiver = defineWorkflow({ name: "receiver" }, async (_event, step) => {
      const { payload } = await step.waitForEvent<{ by: string }>("wait", { type: "paid", timeout: "1 minute" });
      return payload.by;
    });
    const sender = defineWorkflow({ name: "sender" }, async (_event, step) => {
      await step.sendEvent({ workflow: receiver, id: "one" }, { type: "paid", payload: { by: "card" } });
      const missing = { workflow: "receiver", id: "none" };
      return step
        .sendEvent(missing, { type: "paid", payload: { by: "card" } })
        .catch((error: { code?: unknown }) => error.code);
    });
    await using app = await perdure({ database: database.reopen(), workflows: { receiver, sender }, logger: silent });
    const received = await app.workflows.receiver.create({ id: "one" });
    const sent = await app.workflows.sender.create({ id: "one" });

    await expect(sent.result()).resolves.toBe("instance.not_found");
    await expect(received.result()).resolves.toBe("card");
  });
});
