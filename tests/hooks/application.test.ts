import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, type Logger, perdure, type WorkflowEvent } from "../../src/index.ts";
import type { DatabaseAdapter } from "../../src/store/store.ts";
import { DRIVERS, type TestStore } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { LogBook } from "./support/log-book.ts";
import { eventually } from "./support/use-hooks.ts";

describe.each(DRIVERS)("perdure() on $name", (engine) => {
  /** Where it is, in an empty database: a path, a URL, or what was opened already. Disposing finds what was left open. */
  async function withDatabase(body: (database: string | DatabaseAdapter, fixture: TestStore) => Promise<void>) {
    const fixture = await engine.createEmpty({ logger: new LogBook() });
    try {
      await body(fixture.toOpen(), fixture);
    } finally {
      await fixture.dispose();
    }
  }

  test("opens the database, migrates it, and runs triggered hooks", async () => {
    await withDatabase(async (database) => {
      const sendMail = recordCalls<{ to: string }>();
      await using app = await perdure({ database, hooks: { sendMail: sendMail.definition } });
      const { id } = await app.hooks.sendMail.trigger({ to: "ada@example.org" });
      await eventually(() => expect(sendMail.payloads).toEqual([{ to: "ada@example.org" }]));
      await app.unitOfWork(async (uow) => uow.triggerHook("sendMail", { to: "bob@example.org" }));
      await eventually(() => expect(sendMail.payloads).toHaveLength(2));
      await eventually(async () => expect(await app.durableHooks.list()).toEqual({ hooks: [], nextCursor: null }));

      expect(sendMail.calls[0]?.hook).toMatchObject({ hookId: id, hookName: "sendMail", namespace: "app" });
    });
  });

  test("only triggers where it has no worker, and another process runs it", async () => {
    await withDatabase(async (database, fixture) => {
      const greet = recordCalls<string>();
      await using web = await perdure({ database, hooks: { greet: greet.definition }, worker: false });
      const { id } = await web.hooks.greet.trigger("ada");
      web.wake();
      expect(await web.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
      await using worker = await perdure({
        database: fixture.reopen(),
        hooks: { greet: greet.definition },
        worker: { concurrency: 2, pollIntervalMs: 50 },
      });

      await eventually(() => expect(greet.payloads).toEqual(["ada"]));
      await web.hooks.greet.trigger("bob");
      await eventually(() => expect(greet.payloads).toEqual(["ada", "bob"]));
      expect(worker.hooks).not.toBe(web.hooks);
    });
  });

  test("lists a schedule as soon as it resolves, with and without a worker", async () => {
    await withDatabase(async (database, fixture) => {
      const report = defineWorkflow({ name: "report", schedules: ["0 9 * * *"] }, async () => "done");
      await using web = await perdure({ database, workflows: { report }, worker: false });
      expect(await web.schedules.list()).toMatchObject([{ workflowName: "report", cron: "0 9 * * *", inCode: true }]);
      const hourly = defineWorkflow({ name: "hourly", schedules: ["0 * * * *"] }, async () => "done");
      await using worker = await perdure({ database: fixture.reopen(), workflows: { hourly }, namespace: "other" });
      expect(await worker.schedules.list()).toMatchObject([{ workflowName: "hourly" }]);
    });
  });

  test("finds an instance by its workflow's key or name, and its id", async () => {
    await withDatabase(async (database) => {
      const double = defineWorkflow({ name: "twice" }, async (event: WorkflowEvent<number>) => 2 * event.payload);
      await using app = await perdure({ database, workflows: { double } });
      await app.workflows.double.create({ id: "a", params: 21 });
      expect(await (await app.instances.get("double", "a")).result()).toBe(42);
      expect(await (await app.instances.get("twice", "a")).result()).toBe(42);
      await expect(app.instances.get("double", "b")).rejects.toMatchObject({ code: "instance.not_found" });
      await expect(app.instances.get("half", "a")).rejects.toMatchObject({ code: "workflow.not_found" });
    });
  });

  test("runs due hooks and workflows in a drain, without a worker", async () => {
    await withDatabase(async (database) => {
      const greet = recordCalls<string>();
      const double = defineWorkflow({ name: "double" }, async (event: WorkflowEvent<number>) => 2 * event.payload);
      const options = { hooks: { greet: greet.definition }, workflows: { double }, worker: false };
      await using app = await perdure({ database, ...options });
      await app.hooks.greet.trigger("ada");
      const instance = await app.workflows.double.create({ params: 21 });
      await app.drain({ deadlineMs: 60_000 });
      expect(greet.payloads).toEqual(["ada"]);
      expect(await instance.status()).toMatchObject({ status: "complete", output: 42 });
    });
  });

  test("runs as many hooks at a time as its worker has slots", async () => {
    await withDatabase(async (database) => {
      let running = 0;
      let most = 0;
      const greet = recordCalls<number>(async () => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        running--;
      });
      await using app = await perdure({ database, hooks: { greet: greet.definition }, worker: { concurrency: 3 } });
      await Promise.all(Array.from({ length: 40 }, (_, number) => app.hooks.greet.trigger(number)));
      await eventually(() => expect(greet.calls).toHaveLength(40));

      expect(most).toBe(3);
    });
  });

  test("takes many triggers at once, and runs each once", async () => {
    await withDatabase(async (database) => {
      const greet = recordCalls<number>();
      await using app = await perdure({ database, hooks: { greet: greet.definition } });
      const numbers = Array.from({ length: 1500 }, (_, number) => number);
      const triggered = await Promise.all(numbers.map((number) => app.hooks.greet.trigger(number)));
      await eventually(() => expect(greet.calls.length).toBeGreaterThanOrEqual(1500));

      expect(new Set(triggered.map(({ id }) => id)).size).toBe(1500);
      expect(greet.payloads.toSorted((left, right) => left - right)).toEqual(numbers);
    });
  });

  test("waits for running hooks when it stops, however often it is stopped", async () => {
    await withDatabase(async (database) => {
      const gate = new Gate();
      const greet = recordCalls<string>(() => gate.opened);
      const app = await perdure({ database, hooks: { greet: greet.definition } });
      await app.hooks.greet.trigger("ada");
      await eventually(() => expect(greet.calls).toHaveLength(1));
      const stops = [app.stop({ deadlineMs: 60_000 }), app.stop({ deadlineMs: 0 }), app[Symbol.asyncDispose]()];
      gate.open();
      await Promise.all(stops);

      expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
    });
  });

  test("closes a database that it opened, and leaves one open that it was given", async () => {
    await withDatabase(async (database, fixture) => {
      const greet = recordCalls<string>();
      const adapter = fixture.reopen();
      const given = await perdure({ database: adapter, hooks: { greet: greet.definition }, worker: false });
      const opened = await perdure({ database, hooks: { greet: greet.definition }, worker: false });
      await given.stop();
      await opened.stop();

      await given.hooks.greet.trigger("still open");
      if (typeof database === "string") {
        await expect(opened.hooks.greet.trigger("closed")).rejects.toMatchObject({ code: "store.closed" });
      }
    });
  });

  test("keeps applications with different namespaces apart", async () => {
    await withDatabase(async (database, fixture) => {
      const [ours, theirs] = [recordCalls<string>(), recordCalls<string>()];
      await using us = await perdure({ database, hooks: { greet: ours.definition }, namespace: "us" });
      await using them = await perdure({
        database: fixture.reopen(),
        hooks: { greet: theirs.definition },
        namespace: "them",
      });
      await us.hooks.greet.trigger("ada");
      await them.hooks.greet.trigger("bob");
      await eventually(() => expect([...ours.payloads, ...theirs.payloads]).toEqual(["ada", "bob"]));
    });
  });

  test("takes the options of durable hooks", async () => {
    await withDatabase(async (database) => {
      const greet = recordCalls<string>();
      await using app = await perdure({ database, hooks: { greet: greet.definition }, keepCompleted: "1 hour" });
      const { id } = await app.hooks.greet.trigger("ada");

      await eventually(async () => expect((await app.durableHooks.get(id))?.status).toBe("completed"));
    });
  });

  test("needs no hooks", async () => {
    await withDatabase(async (database) => {
      await using app = await perdure({ database });

      expect(app.hooks).toEqual({});
      expect(await app.unitOfWork((uow) => uow.sql`select 1 as one`)).toEqual([{ one: 1 }]);
    });
  });

  test("logs attempts that fail, unless it has an onError", async () => {
    await withDatabase(async (database, fixture) => {
      const logs = new LogBook();
      const logger: Logger = logs;
      const greet = defineHook({ retries: { limit: 0 } }, (_: string) => {
        throw new Error("no");
      });
      await using app = await perdure({ database, hooks: { greet }, logger });
      const { id } = await app.hooks.greet.trigger("ada");
      await eventually(() => {
        expect(logs.lines).toEqual([
          {
            level: "error",
            message: `The hook app/greet ${id} failed for good.`,
            details: { error: expect.objectContaining({ name: "Error", message: "no" }), attempt: 1 },
          },
        ]);
      });
      const errors: unknown[] = [];
      await using quiet = await perdure({
        database: fixture.reopen(),
        hooks: { greet },
        namespace: "quiet",
        worker: { onError: (error) => errors.push(error) },
      });
      await quiet.hooks.greet.trigger("ada");
      await eventually(() => expect(errors).toMatchObject([{ message: "no" }]));
    });
  });

  test("leaves no database open when it can't start", async () => {
    await withDatabase(async (database) => {
      const greet = recordCalls<string>();
      const start = () => perdure({ database, hooks: { greet: greet.definition }, worker: { concurrency: 0 } });

      await expect(start()).rejects.toMatchObject({ name: "InvalidInputError", code: "options.invalid" });
      const namespace = "no spaces, please";
      await expect(perdure({ database, namespace })).rejects.toMatchObject({ code: "name.invalid" });
    });
  });
});
