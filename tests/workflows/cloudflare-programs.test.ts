import { describe, expect, test } from "vitest";
import type {
  InstanceStatus,
  Workflow,
  WorkflowInstanceCreateOptionsWithId,
  WorkflowRollbackContext,
} from "../../src/cloudflare/index.ts";
import { env, withEnv } from "../../src/cloudflare/index.ts";
import { NonRetryableError, WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes } from "./support/sample.ts";
import { eventually, untilStatus, useWorkflows } from "./support/use-workflows.ts";

interface Env {
  readonly SELF: Workflow<{ readonly deed: string }>;
}

type Deed = "terminate" | "restart" | "delete" | "deleteBatch" | "roll back";

/** What programs written for Cloudflare do, and must be able to do here. */
describe.each(ENGINES)("a program for Cloudflare on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Does something to its own instance, by `this.env`, and would go on. */
  function suicidal(told: string[]) {
    return class Suicidal extends WorkflowEntrypoint<Env, { deed: Deed }> {
      override async run(event: Readonly<WorkflowEvent<{ deed: Deed }>>, step: WorkflowStep) {
        told.push("begun");
        if (told.length > 1) return "the second run";
        await step.do("prepare", async () => "ready");
        const self = await this.env.SELF.get(event.instanceId);
        const { deed } = event.payload;
        if (deed === "terminate") await self.terminate();
        else if (deed === "roll back") await self.terminate({ rollback: true });
        else if (deed === "restart") await self.restart();
        else if (deed === "delete") await self.delete();
        else await this.env.SELF.deleteBatch([event.instanceId]);
        told.push("went on");
        await step.do("afterwards", async () => told.push("afterwards"));
        return "the first run";
      }
    };
  }

  test.each<[Deed, string]>([
    ["terminate", "terminated"],
    ["roll back", "terminated"],
    ["restart", "complete"],
    ["delete", "gone"],
    ["deleteBatch", "gone"],
  ])("that uses %s on its own instance doesn't go on", async (deed, end) => {
    const told: string[] = [];
    const process = subject.start(
      { SELF: { name: "self", workflow: suicidal(told) } },
      { env: (workflows: object) => ({ ...workflows }) },
    );
    const instance = await process.workflows.SELF.create({ id: "one", params: { deed } });
    if (end === "gone") {
      await eventually(() => expect(instance.status()).rejects.toMatchObject({ code: "instance.not_found" }));
    } else await untilStatus(subject.clock, instance, end as "complete");
    expect(told).toEqual(deed === "restart" ? ["begun", "begun"] : expect.arrayContaining(["begun"]));
    expect(told).not.toContain("went on");
    if (deed === "restart") expect(await instance.result()).toBe("the second run");
  });

  test("finds the message that it compares when an instance is missing, and a sentence beside it", async () => {
    const { workflows } = subject.process({ SELF: { name: "self", workflow: suicidal([]) } });
    await expect(workflows.SELF.get("nobody")).rejects.toMatchObject({
      code: "instance.not_found",
      message: "instance.not_found",
      details: 'The workflow "self" has no instance "nobody".',
    });
  });

  test("may give a locationHint, and the other options that Cloudflare's types have", async () => {
    const { workflows } = subject.process({ SELF: { name: "self", workflow: suicidal([]) } });
    const self: Workflow<{ deed: Deed }> = workflows.SELF;
    const options: WorkflowInstanceCreateOptionsWithId<{ deed: Deed }> = { id: "one", locationHint: "weur" };
    const instance = await self.create({
      ...options,
      params: { deed: "delete" },
      retention: { successRetention: "1 day", errorRetention: "1 year" },
    });
    const status: InstanceStatus = await instance.status();
    expect(status.status).toBe("queued");
    const [other] = await self.createBatch([{ id: "two", locationHint: "enam", params: { deed: "delete" } }]);
    expect(other?.id).toBe("two");
    const retention = { successRetention: "1 day" } as const;
    const counted = { count: 2, instances: undefined, locationHint: "oc", retention, params: { deed: "delete" } };
    const named = { instances: [{ id: "three", locationHint: "me", retention, params: { deed: "delete" } }] };
    const absent = { count: undefined, params: undefined, retention: undefined, locationHint: undefined };
    for (const batch of [counted, { ...named, ...absent }]) {
      expect(await self.createBatch(batch as never)).toMatchObject({
        created: { length: expect.any(Number) },
        errors: [],
      });
    }
    await expect(self.createBatch({ instances: [], count: 1 } as never)).rejects.toMatchObject({
      code: "create.invalid",
    });
    await expect(self.createBatch({ counts: 1, count: 1 } as never)).rejects.toMatchObject({ code: "create.invalid" });
  });

  test("that threw a text finds an Error in its rollbacks, and the step's name with its count", async () => {
    const seen: WorkflowRollbackContext<unknown, never>[] = [];
    class Throwing extends WorkflowEntrypoint {
      override async run(_event: unknown, step: WorkflowStep) {
        for (const value of [1, 2]) {
          await step.do("book", async () => value, { rollback: async (context) => void seen.push(context as never) });
        }
        await step.do("pay", async () => Promise.reject(new NonRetryableError("no"))).catch(() => {});
        throw "declined";
      }
    }
    const process = subject.start({ throwing: Throwing });
    const instance = await process.workflows.throwing.create();
    await untilStatus(subject.clock, instance, "errored");
    expect(seen.map(({ stepName }) => stepName)).toEqual(["book-2", "book-1"]);
    for (const { error } of seen) {
      expect(error).toBeInstanceOf(Error);
      expect(error).toMatchObject({ message: "declined", cause: "declined" });
    }
  });

  test("finds its own env in the imported one, between steps and in them, whichever code has created it", async () => {
    class Reader extends WorkflowEntrypoint {
      override async run(_event: unknown, step: WorkflowStep) {
        const names = [env.NAME, await step.do("read", async () => env.NAME)];
        await step.sleep("park", "10 seconds");
        names.push(env.NAME, await step.do("read again", async () => withEnv({ NAME: "inner" }, async () => env.NAME)));
        return names;
      }
    }
    const process = subject.start({ reader: Reader }, { env: { NAME: "own" } });
    const instance = await withEnv({ NAME: "creator" }, () => process.workflows.reader.create());
    await untilStatus(subject.clock, instance, "complete");
    expect(await instance.result()).toEqual(["own", "own", "own", "inner"]);
    expect(env.NAME).toBe(undefined);
  });

  test("has the workflows by their keys as its env where the application gives it none", async () => {
    class Parent extends WorkflowEntrypoint<{ CHILD: Workflow }> {
      override async run(_event: unknown, step: WorkflowStep) {
        return step.do("start a child", async () => (await this.env.CHILD.create({ id: "child" })).id);
      }
    }
    const process = subject.start({ PARENT: Parent, CHILD: { name: "child", workflow: suicidal([]) } });
    expect(await (await process.workflows.PARENT.create()).result()).toBe("child");
  });

  test("has a promise logged that it gave to waitUntil, if that is rejected", async () => {
    class Forgetful extends WorkflowEntrypoint {
      override async run() {
        this.ctx.waitUntil(Promise.reject(new Error("no caller awaits it")));
      }
    }
    const process = subject.start({ forgetful: Forgetful });
    await (await process.workflows.forgetful.create({ id: "one" })).result();
    await eventually(() => expect(process.logs.messages("error").join()).toContain("waitUntil was rejected"));
  });

  test("may sleep for a year, and wait for an event as long", async () => {
    class Patient extends WorkflowEntrypoint {
      override async run(_event: unknown, step: WorkflowStep) {
        await step.sleep("long", "1 year");
        await step.waitForEvent("event", { type: "never", timeout: "1 year" });
      }
    }
    const process = subject.process({ patient: Patient });
    const instance = await process.workflows.patient.create();
    await process.drain();
    await becomes(instance, "waiting");
    const [entry] = (await instance.history()).entries;
    expect(Number(entry?.dueAt)).toBe(subject.clock.now() + 365.25 * 86_400_000);
  });

  test("may give a stream of ArrayBuffers", async () => {
    class Streaming extends WorkflowEntrypoint {
      override async run(_event: unknown, step: WorkflowStep) {
        const stream = await step.do("stream", async () =>
          ReadableStream.from([new Uint8Array([1, 2]).buffer, new Uint8Array([3])]),
        );
        const bytes: number[] = [];
        for await (const piece of stream as ReadableStream<Uint8Array>) bytes.push(...piece);
        return bytes;
      }
    }
    const process = subject.start({ streaming: Streaming });
    expect(await (await process.workflows.streaming.create()).result()).toEqual([1, 2, 3]);
  });

  test("that returns a locked stream fails at once, without a retry", async () => {
    let attempts = 0;
    class Locked extends WorkflowEntrypoint {
      override async run(_event: unknown, step: WorkflowStep) {
        return step.do("stream", async () => {
          attempts++;
          const stream = ReadableStream.from([new Uint8Array([1])]);
          stream.getReader();
          return stream;
        });
      }
    }
    const process = subject.start({ locked: Locked });
    const instance = await process.workflows.locked.create();
    await untilStatus(subject.clock, instance, "errored");
    expect(attempts).toBe(1);
    expect((await instance.status()).error?.message).toContain("a locked stream");
  });
});
