import { describe, expect, test } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import type { ProcessorSource } from "../../src/queue/processor.ts";
import type { Work } from "../../src/queue/work.ts";
import type { WorkNotice } from "../../src/store/queue/work-board.ts";
import { ENGINES } from "../support/engines.ts";
import { LEASE_MS, useWorkflows } from "./support/use-workflows.ts";

const quick = defineWorkflow({ name: "quick" }, async () => "done");

describe.each(ENGINES)("work that is released before it begins on $name", (engine) => {
  const under = useWorkflows(engine);

  test("is due at once, and its worker is told to look again: no poll would find it soon", async () => {
    const process = under.process({ quick });
    const { store, workflows, processor } = process;
    const instance = await workflows.quick.create({ id: "one" });
    const source = processor.sources.find(({ kind }) => kind === "instance") as ProcessorSource;
    const request = { limit: 1, takeOver: false, mostLost: 0, lock: "a claim", leaseMs: LEASE_MS };
    const [work] = (await source.claim(request)) as [Work];
    const notices: WorkNotice[] = [];
    const leave = store.work.join({ notice: (notice) => notices.push(notice) > 0, reserve: () => null });
    await work.release();
    expect(notices).toContainEqual({ namespace: under.namespace, delayMs: 0 });
    leave();
    await process.drain();
    expect(await instance.result()).toBe("done");
  });
});
