import { describe, expect, test } from "vitest";
import {
  perdure,
  type WorkflowBindings,
  WorkflowEntrypoint,
  type WorkflowEvent,
  type WorkflowStep,
} from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

interface Env {
  readonly greeting: string;
}

class Greeter extends WorkflowEntrypoint<Env, { name: string }> {
  override async run(event: Readonly<WorkflowEvent<{ name: string }>>, step: WorkflowStep) {
    const { payload, instanceId, workflowName, timestamp } = event;
    const text = await step.do("greet", async () => `${this.env.greeting} ${payload.name}`);
    return { text, instanceId, workflowName, dated: timestamp instanceof Date };
  }
}

class Parent extends WorkflowEntrypoint {
  override async run(_event: Readonly<WorkflowEvent<unknown>>, step: WorkflowStep) {
    const child = await this.workflows["GREETER"]?.create({ params: { name: "child" } });
    return step.do("wait", async () => child?.result());
  }
}

describe.each(ENGINES)("workflows as classes on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("run under their names in a fragment, with an env", async () => {
    const process = subject.start(
      { GREETER: { name: "greeter", workflow: Greeter } },
      { env: { greeting: "Hello" } satisfies Env },
    );
    const instance = await process.workflows.GREETER.create({ id: "one", params: { name: "Ada" } });

    await expect(instance.result()).resolves.toEqual({
      text: "Hello Ada",
      instanceId: "one",
      workflowName: "greeter",
      dated: true,
    });
    expect(instance.workflowName).toBe("greeter");
  });

  test("reach each other by this.workflows", async () => {
    const process = subject.start({ GREETER: Greeter, PARENT: Parent }, { env: { greeting: "Hi" } });
    const instance = await process.workflows.PARENT.create({ params: undefined });

    await expect(instance.result()).resolves.toMatchObject({ text: "Hi child", workflowName: "GREETER" });
  });

  test("reach each other by an env that is made of the bindings", async () => {
    class Caller extends WorkflowEntrypoint<{ CHILD: WorkflowBindings[string] }> {
      override async run(_event: Readonly<WorkflowEvent<unknown>>, step: WorkflowStep) {
        const child = await this.env.CHILD.create({ params: { name: "env" } });
        return step.do("wait", async () => child.result());
      }
    }
    class Child extends WorkflowEntrypoint<unknown, { name: string }> {
      override async run(event: Readonly<WorkflowEvent<{ name: string }>>) {
        return event.payload.name;
      }
    }
    const process = subject.start(
      { CALLER: { name: "caller", workflow: Caller }, CHILD: { name: "child", workflow: Child } },
      { env: (workflows: WorkflowBindings) => ({ CHILD: workflows["CHILD"] }) },
    );
    const instance = await process.workflows.CALLER.create({ params: undefined });

    await expect(instance.result()).resolves.toBe("env");
    const { entries } = await instance.history();
    expect(entries.map(({ type, kind }) => [type, kind])).toEqual([
      ["create", "completed"],
      ["do", "completed"],
    ]);
  });

  test("run in an application of one call", async () => {
    const test = await engine.createEmpty({ logger: new LogBook() });
    try {
      const database = test.toOpen();
      await using app = await perdure({
        database,
        workflows: { greeter: Greeter, other: { name: "named", workflow: Greeter } },
        env: { greeting: "Good day" },
        logger: new LogBook(),
      });
      const greeter = await app.workflows.greeter.create({ params: { name: "Ada" } });
      const other = await app.workflows.other.create({ params: { name: "Bob" } });

      await expect(greeter.result()).resolves.toMatchObject({ text: "Good day Ada", workflowName: "greeter" });
      await expect(other.result()).resolves.toMatchObject({ text: "Good day Bob", workflowName: "named" });
    } finally {
      await test.dispose();
    }
  });

  test("that throw in their constructors end as errored", async () => {
    class Broken extends WorkflowEntrypoint {
      constructor(...parameters: ConstructorParameters<typeof WorkflowEntrypoint>) {
        super(...parameters);
        throw new Error("broken from the start");
      }
      override async run() {}
    }
    const process = subject.start({ BROKEN: Broken });
    const instance = await process.workflows.BROKEN.create({ params: undefined });

    await expect(instance.result()).rejects.toMatchObject({ cause: { message: "broken from the start" } });
  });
});
