import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import type { Engine } from "../../src/store/engine.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "../workflows/support/use-workflows.ts";
import { OLD } from "./support/keys.ts";
import { MINUTE, openWith } from "./support/unable.ts";

const REFUSED = { code: "codec.refused" };

/** Runs SQL as an intruder would who can write to the database, and has no key. */
async function tamper(engine: Engine, sql: string): Promise<void> {
  const tables = engine.dialect === "sqlite" ? "perdure_" : "perdure.";
  await engine.transaction((transaction) => transaction.query(sql.replaceAll("TABLE.", tables), []));
}

describe.each(ENGINES)("a value that was moved on $name", (engine) => {
  const subject = useWorkflows(engine);

  const approval = defineWorkflow({ name: "approval" }, async (event: WorkflowEvent<string>, step) => {
    const { payload } = await step.waitForEvent<string>("word", { type: "word", timeout: "30 days" });
    const [first, second] = [await step.do("first", () => `${payload} 1`), await step.do("second", () => "second")];
    await step.sleep("a while", "1 hour");
    return [event.payload, first, second];
  });

  function open() {
    return subject.process({ approval }, { adapter: openWith(subject, OLD) });
  }

  async function create(ids: readonly string[]) {
    const process = open();
    const bindings = process.workflows.approval;
    const instances = await Promise.all(ids.map((id) => bindings.create({ id, params: `params of ${id}` })));
    await process.drain();
    return { process, instances, engine: process.store.engine };
  }

  const refOf = (id: string) =>
    `(select ref from TABLE.instance where namespace = '${subject.namespace}' and name = 'approval' and id = '${id}')`;

  test("from the event of one instance to that of another is refused there", async () => {
    const { process, instances, engine } = await create(["mine", "yours"]);
    for (const instance of instances) await instance.sendEvent({ id: "e", type: "word", payload: instance.id });
    await tamper(
      engine,
      `update TABLE.event set payload = (select payload from TABLE.event where ref = ${refOf("mine")}) where ref = ${refOf("yours")}`,
    );
    await process.drain();
    const [mine, yours] = await Promise.all(instances.map((instance) => instance.history()));
    expect(mine?.entries.find(({ name }) => name === "first")).toMatchObject({ output: "mine 1" });
    expect(yours?.entries.map(({ name }) => name)).not.toContain("first");
  });

  test("from one event of an instance to another of the same type is refused", async () => {
    const { process, instances, engine } = await create(["mine"]);
    for (const id of ["a", "b"]) await instances[0]?.sendEvent({ id, type: "word", payload: id });
    await tamper(
      engine,
      `update TABLE.event set payload = (select payload from TABLE.event where ref = ${refOf("mine")} and id = 'own:b') where ref = ${refOf("mine")} and id = 'own:a'`,
    );
    await process.drain();
    expect((await instances[0]?.history())?.entries.map(({ name }) => name)).not.toContain("first");
  });

  test("from one step of an instance to another is refused, and the instance waits", async () => {
    const { process, instances, engine } = await create(["mine"]);
    await instances[0]?.sendEvent({ type: "word", payload: "ada" });
    await process.drain();
    await tamper(
      engine,
      `update TABLE.journal set value = (select value from TABLE.journal where ref = ${refOf("mine")} and name = 'second') where ref = ${refOf("mine")} and name = 'first'`,
    );
    const next = open();
    subject.clock.advance(60 * MINUTE);
    await next.drain();
    expect(await instances[0]?.status()).toMatchObject({ status: "waiting" });
    const { entries } = (await instances[0]?.history()) ?? { entries: [] };
    expect(entries.find(({ name }) => name === "first")).toMatchObject({ unreadable: REFUSED });
    expect(entries.find(({ name }) => name === "second")).toMatchObject({ output: "second" });
  });

  test("with its whole row to another id shows nothing there", async () => {
    const { process, instances, engine } = await create(["mine", "yours"]);
    for (const instance of instances) await instance.sendEvent({ type: "word", payload: instance.id });
    await process.drain();
    subject.clock.advance(60 * MINUTE);
    await process.drain();
    expect(await instances[0]?.status()).toMatchObject({ status: "complete" });
    for (const [from, to] of [
      ["mine", "between"],
      ["yours", "mine"],
    ]) {
      await tamper(engine, `update TABLE.instance set id = '${to}' where ref = ${refOf(from as string)}`);
    }
    const moved = await open().workflows.approval.get("mine");
    await expect(moved.status()).rejects.toMatchObject(REFUSED);
    const { entries } = await moved.history();
    expect(entries.filter(({ output, event }) => output !== undefined || event !== undefined)).toEqual([]);
  });
});

describe.each(ENGINES)("the payload of a hook on $name", (engine) => {
  const subject = useHooks(engine);

  test.each([
    ["without keys", {}, {}],
    ["with keys", { key: "a" }, { key: "b" }],
  ])("isn't run for another hook of the same name, of hooks %s", async (_, first, second) => {
    const greet = recordCalls<string>();
    const process = subject.process({ greet: greet.definition }, { adapter: openWith(subject, OLD) });
    const [mine, yours] = [
      await process.hooks.greet.trigger("mine", first),
      await process.hooks.greet.trigger("yours", second),
    ];
    await tamper(
      process.store.engine,
      `update TABLE.hook set payload = (select payload from TABLE.hook where id = '${mine.id}') where id = '${yours.id}'`,
    );
    await process.drain();
    expect(greet.payloads).toEqual(["mine"]);
    await expect(process.durableHooks.get(yours.id)).rejects.toMatchObject(REFUSED);
  });
});
