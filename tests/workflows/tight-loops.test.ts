import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows } from "./support/use-workflows.ts";

/** More than any engine needs, and few enough to end soon where nothing else gets to run. */
const MOST_CALLS = 20_000;

describe.each(ENGINES)("a loop without a pause on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Calls until this says so, and gives whether it did. */
  async function until(call: () => Promise<boolean>): Promise<boolean> {
    for (let calls = 0; calls < MOST_CALLS; calls++) if (await call()) return true;
    return false;
  }

  async function begin() {
    const workflow = defineWorkflow({ name: "turns" }, async (_event, step) => {
      await step.do("first", () => new Promise((resolve) => setImmediate(resolve, 1)));
      return step.do("second", () => 2);
    });
    const process = subject.start({ workflow });
    return { process, instance: await process.workflows.workflow.create({ id: "one" }) };
  }

  test("on an instance's status lets the instance continue", async () => {
    const { instance } = await begin();

    expect(await until(async () => (await instance.status()).status === "complete")).toBe(true);
  });

  test("on lists of instances lets them continue", async () => {
    const { process } = await begin();

    expect(
      await until(async () => (await process.workflows.workflow.list({ status: "complete" })).instances.length === 1),
    ).toBe(true);
  });

  test("on transactions lets timers run", async () => {
    const { process } = await begin();
    let fired = false;
    setTimeout(() => {
      fired = true;
    }, 0);

    expect(
      await until(async () => {
        await process.store.engine.transaction((transaction) => transaction.query("select 1 as one", []));
        return fired;
      }),
    ).toBe(true);
  });
});
