import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type Application, defineHook, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";

const Order = z.object({ id: z.string() });
const Approval = z.object({ by: z.string() });

const approval = defineWorkflow(
  { name: "approval", input: Order, events: { approved: Approval, ping: z.undefined() } },
  async (event, step) => (await step.waitForEvent("approved", { type: "approved" })).payload.by + event.payload.id,
);
const send = defineHook({ input: Order }, async (order) => order.id);
type App = Application<{ send: typeof send }, { approval: typeof approval }>;

/** Compiled, never run: the type checker is the test. An expected error counts only on the line of the mistake. */
function compile(_body: () => unknown): void {}

describe("with input, the errors of the type checker are where the mistake is", () => {
  test("in an output that the schema refuses", () => {
    compile(() =>
      defineWorkflow(
        { name: "priced", input: Order, output: z.object({ price: z.number() }) },
        // @ts-expect-error the price is a text
        async (event) => ({ price: event.payload.id }),
      ),
    );
    expect(approval.kind).toBe("workflow");
  });

  test("in a function without async", () => {
    compile(() =>
      defineWorkflow(
        { name: "sync", input: Order },
        // @ts-expect-error it isn't a promise
        (event) => event.payload.id,
      ),
    );
    expect(approval.name).toBe("approval");
  });

  test("in an annotation that contradicts the schema", () => {
    compile(() =>
      defineWorkflow(
        { name: "annotated", input: Order },
        // @ts-expect-error an order has no total
        async (event: WorkflowEvent<{ total: number }>) => event.payload.total,
      ),
    );
    compile(() =>
      defineHook(
        { input: Order },
        // @ts-expect-error an order has no total
        async (order: { total: number }) => order.total,
      ),
    );
    expect(send.kind).toBe("hook");
  });

  test("in an event that isn't declared", () => {
    compile(() =>
      defineWorkflow({ name: "waits", input: Order, events: { approved: Approval } }, async (_event, step) => {
        await step.waitForEvent("approved", {
          // @ts-expect-error approved is declared, and refused isn't
          type: "refused",
        });
      }),
    );
    expect(approval.events?.size).toBe(2);
  });

  test("in a misspelt option, and in a use of the payload", () => {
    compile(() =>
      defineWorkflow(
        {
          name: "misspelt",
          input: Order,
          // @ts-expect-error the option is retention
          retentoin: {},
        },
        async (event) => event.payload.id,
      ),
    );
    compile(() =>
      defineHook(
        {
          input: Order,
          // @ts-expect-error the option is retries
          retires: {},
        },
        async (order) => order.id,
      ),
    );
    compile(() =>
      defineWorkflow({ name: "used", input: Order }, async (event) => {
        const { id } = event.payload;
        // @ts-expect-error an order has no total
        return [id, event.payload.total];
      }),
    );
    expect(send.schema).not.toBeNull();
  });
});

describe("a missing payload doesn't compile", () => {
  test("in a trigger, a create and an event", () => {
    compile(async (app = {} as App) => {
      // @ts-expect-error the payload is missing
      await app.hooks.send.trigger();
      // @ts-expect-error the params are missing
      await app.workflows.approval.create();
      // @ts-expect-error the params are missing
      await app.workflows.approval.create({ id: "1" });
      const instance = await app.workflows.approval.create({ params: { id: "1" } });
      // @ts-expect-error the payload is missing
      await instance.sendEvent({ type: "approved" });
      await instance.sendEvent({ type: "approved", payload: { by: "ada" } });
      await instance.sendEvent({ type: "ping" });
      await app.unitOfWork(async (uow) => {
        // @ts-expect-error the payload is missing
        uow.workflows.approval.sendEvent({ to: "1", type: "approved" });
        uow.workflows.approval.sendEvent({ to: "1", type: "ping" });
      });
    });
    expect(approval.input).not.toBeNull();
  });

  test("and instances of the application have the types of their workflow", () => {
    compile(async (app = {} as App) => {
      const known = await app.instances.get("approval", "1");
      const output: string = await known.result();
      // @ts-expect-error the payload is missing
      await known.sendEvent({ type: "approved" });
      const other = await app.instances.get(output, "1");
      await other.sendEvent({ type: "whatever" });
    });
    expect(approval.output).toBeNull();
  });
});
