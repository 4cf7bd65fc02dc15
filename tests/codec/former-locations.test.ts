import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "../workflows/support/use-workflows.ts";
import { OLD } from "./support/keys.ts";
import { MINUTE, openWith } from "./support/unable.ts";

/** A value as the first version stored it, bound to less than today. */
async function formerly(value: unknown, ...place: string[]): Promise<string> {
  const encoded = await OLD.encode(JSON.stringify(value), JSON.stringify(place));
  return JSON.stringify({ $perdure: "encoded", value: encoded });
}

const tableOf = (dialect: string, name: string) => (dialect === "sqlite" ? `perdure_${name}` : `perdure.${name}`);

describe.each(ENGINES)("on $name, values that the first version encrypted can still be read:", (engine) => {
  const subject = useWorkflows(engine);
  const hooks = useHooks(engine);

  test("params, step results and events of an instance", async () => {
    const workflow = defineWorkflow({ name: "sleeper" }, async (event: WorkflowEvent<string>, step) => {
      const first = await step.do("first", () => "new");
      await step.sleep("a while", "1 hour");
      const { payload } = await step.waitForEvent<string>("word", { type: "word" });
      return [event.payload, first, payload];
    });
    const writer = subject.process({ workflow }, { adapter: openWith(subject, OLD) });
    const instance = await writer.workflows.workflow.create({ id: "one", params: "new" });
    await writer.drain();
    await instance.sendEvent({ type: "word", payload: "new" });
    const [record] = await writer.store.engine.instances.find([
      { namespace: subject.namespace, name: "sleeper", id: "one" },
    ]);
    const ref = record?.ref ?? "";
    const updates = [
      ["instance", "params", await formerly("old params", "instance.params", ref), ""],
      ["journal", "value", await formerly("old result", "journal.value", ref), "and name = 'first'"],
      ["event", "payload", await formerly("old event", "event.payload", "word"), ""],
    ];
    for (const [table, column, text, where] of updates) {
      const name = tableOf(engine.dialect, table as string);
      await writer.store.engine.transaction((transaction) =>
        transaction.query(`update ${name} set ${column} = '${text}' where ref = '${ref}' ${where}`, []),
      );
    }
    subject.clock.advance(60 * MINUTE);
    const reader = subject.process({ workflow }, { adapter: openWith(subject, OLD) });
    await reader.drain();
    expect(await (await reader.workflows.workflow.get("one")).result()).toEqual([
      "old params",
      "old result",
      "old event",
    ]);
  });

  test("the payload of a hook", async () => {
    const payloads: string[] = [];
    const greet = defineHook({}, (payload: string) => void payloads.push(payload));
    const process = hooks.process({ greet }, { adapter: openWith(hooks, OLD) });
    const { id } = await process.hooks.greet.trigger("new");
    const text = await formerly("old payload", "hook.payload", hooks.namespace, "greet");
    await process.store.engine.transaction((transaction) =>
      transaction.query(`update ${tableOf(engine.dialect, "hook")} set payload = '${text}' where id = '${id}'`, []),
    );
    await process.drain();
    expect(payloads).toEqual(["old payload"]);
  });
});
