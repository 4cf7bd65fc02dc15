import { describe, expect, expectTypeOf, test } from "vitest";
import {
  defineHook,
  defineWorkflow,
  type HookContext,
  perdure,
  type WorkflowBindings,
  type WorkflowEvent,
} from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { LogBook } from "./support/log-book.ts";

const ship = defineWorkflow({ name: "ship" }, async (event: WorkflowEvent<string>) => `shipped ${event.payload}`);

describe.each(ENGINES)("the surroundings of a handler on $name", (engine) => {
  test("are the workflows and the env of its application", async () => {
    const fixture = await engine.create({ logger: new LogBook() });
    const seen: unknown[] = [];
    const onPaid = defineHook(async (order: string, hook) => {
      await hook.workflows["ship"]?.create({ id: order, params: order });
      seen.push(hook.env);
    });
    const app = await perdure({
      database: fixture.adapter,
      hooks: { onPaid },
      workflows: { ship },
      worker: false,
      env: (workflows: WorkflowBindings) => ({ region: "eu", ship: workflows["ship"] }),
    });
    try {
      await app.hooks.onPaid.trigger("order-1");
      await app.drain();
      expect(await (await app.workflows.ship.get("order-1")).result()).toBe("shipped order-1");
      expect(seen).toMatchObject([{ region: "eu", ship: { create: expect.any(Function) } }]);
    } finally {
      await app.stop();
      await fixture.dispose();
    }
  });

  test("exist for a hook at the end of a run, too", async () => {
    const fixture = await engine.create({ logger: new LogBook() });
    const order = defineWorkflow(
      {
        name: "order",
        onCompleted: async ({ instanceId }, hook) => {
          await hook.workflows["ship"]?.create({ id: instanceId, params: instanceId });
        },
      },
      async () => "done",
    );
    const app = await perdure({ database: fixture.adapter, workflows: { order, ship }, worker: false });
    try {
      await app.workflows.order.create({ id: "a" });
      await app.drain();
      expect(await (await app.workflows.ship.get("a")).result()).toBe("shipped a");
    } finally {
      await app.stop();
      await fixture.dispose();
    }
  });
});

test("the types of a handler's surroundings are those of a workflow's context", () => {
  expectTypeOf<HookContext["workflows"]>().toEqualTypeOf<WorkflowBindings>();
  expectTypeOf<HookContext["env"]>().toEqualTypeOf<unknown>();
  expectTypeOf<HookContext<{ region: string }>["env"]>().toEqualTypeOf<{ region: string }>();
  expect(ship.kind).toBe("workflow");
});
