import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { LEASE_MS, useWorkflows } from "./support/use-workflows.ts";

const PAGE = "x".repeat(400_000);

describe.each(ENGINES)("an instance with a long journal, on $name", (engine) => {
  const subject = useWorkflows(engine);
  afterEach(() => {
    vi.restoreAllMocks();
  });

  test("continues in the process that loads it, however many leases that takes", async () => {
    let bodies = 0;
    const collect = defineWorkflow({ name: "collect" }, async (_: WorkflowEvent<unknown>, step) => {
      let length = 0;
      for (let page = 0; page < 12; page++) {
        const text = await step.do(`page ${page}`, async () => {
          bodies++;
          return PAGE;
        });
        length += text.length;
      }
      await step.sleep("a while", "1 hour");
      const { payload } = await step.waitForEvent<string>("word", { type: "word" });
      return { length, payload };
    });
    const workflows = { collect };
    const before = subject.process(workflows);
    const instance = await before.workflows.collect.create({ id: "one" });
    await before.drain();
    const slow = subject.process(workflows);
    const { statements } = slow.store.instances;
    const load = statements.load.bind(statements);
    const loading = Promise.withResolvers<void>();
    const watched = Promise.withResolvers<void>();
    const loads = vi.spyOn(statements, "load").mockImplementation(async (runs) => {
      loading.resolve();
      await watched.promise;
      for (let second = 0; second < 20; second++) await subject.clock.advanceAndSettle(1000);
      return load(runs);
    });
    subject.clock.advance(3_600_000);
    slow.start();
    await loading.promise;
    const other = subject.start(workflows); // takes it over, if its lease runs out
    const loadsOfOther = vi.spyOn(other.store.instances.statements, "load");
    await instance.sendEvent({ type: "word", payload: "sent while it is loaded" });
    watched.resolve();
    const result = slow.workflows.collect.get("one").then((one) => one.result());

    await expect(result).resolves.toEqual({ length: 12 * PAGE.length, payload: "sent while it is loaded" });
    expect(bodies).toBe(12);
    expect(loads.mock.calls.length * 20_000).toBeGreaterThan(2 * LEASE_MS);
    expect(loadsOfOther).not.toHaveBeenCalled();
  });
});
