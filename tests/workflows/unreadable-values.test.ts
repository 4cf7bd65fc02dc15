import { describe, expect, test } from "vitest";
import { defineWorkflow, type WorkflowEvent, type WorkflowStep } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { KNOWN, makeKnown, makeNewer, type StoredPlace } from "../support/newer-values.ts";
import { useWorkflows } from "./support/use-workflows.ts";

const MINUTE = 60_000;
const CORRUPT = { code: "value.corrupt", message: expect.stringContaining("newer version") };

describe.each(ENGINES)("a value that a newer version has written, on $name", (engine) => {
  const subject = useWorkflows(engine);

  /**
   * What one instance does until it sleeps, and after it. Its neighbour comes due at the same time, and has nothing unreadable.
   */
  const situations: readonly {
    readonly what: string;
    readonly place: StoredPlace;
    readonly before?: (step: WorkflowStep) => Promise<unknown>;
    readonly after?: (step: WorkflowStep) => Promise<unknown>;
  }[] = [
    { what: "its params", place: "params" },
    { what: "a step's result", place: "result", before: (step) => step.do("first", async () => KNOWN) },
    {
      what: "a step's result deep inside",
      place: "result",
      before: (step) => step.do("first", async () => ({ of: [new Map([["at", KNOWN]])] })),
    },
    {
      what: "a step's error",
      place: "result",
      before: (step) =>
        step
          .do("first", { retries: { limit: 0, delay: 1 } }, async () => {
            throw Object.assign(new Error("no"), { at: KNOWN });
          })
          .catch(() => "caught"),
    },
    {
      what: "an event that it received",
      place: "event",
      before: (step) => step.waitForEvent("word", { type: "word" }),
    },
    {
      what: "an event that waits for it",
      place: "event",
      after: (step) => step.waitForEvent("word", { type: "word" }),
    },
  ];

  test.each(situations)("holds up only the instance that needs it: $what", async ({ place, before, after }) => {
    const ended: string[] = [];
    const sample = defineWorkflow({ name: "sample" }, async ({ instanceId }: WorkflowEvent<unknown>, step) => {
      if (instanceId === "newer") await before?.(step as never);
      await step.sleep("a while", "1 hour");
      if (instanceId === "newer") await after?.(step as never);
      await step.do("last", async () => void ended.push(instanceId));
      return "done";
    });
    const process = subject.process({ sample });
    const newer = await process.workflows.sample.create({ id: "newer", params: KNOWN });
    await newer.sendEvent({ type: "word", payload: KNOWN });
    const neighbour = await process.workflows.sample.create({ id: "neighbour", params: "plain" });
    await process.drain();
    await makeNewer(process.store, engine, place);
    subject.clock.advance(60 * MINUTE);
    for (let attempt = 1; attempt <= 22; attempt++) {
      await process.drain(); // more often than an instance may be lost
      subject.clock.advance(MINUTE);
    }

    expect(ended).toEqual(["neighbour"]);
    await expect(neighbour.result()).resolves.toBe("done");
    expect(await newer.status()).toMatchObject({ status: "waiting", unreadable: CORRUPT });
    const { instances: items } = await process.workflows.sample.list();
    const marked = items.filter(({ unreadable }) => unreadable !== undefined).map(({ id }) => id);
    expect(marked).toEqual(place === "params" ? ["newer"] : []);
    const told = process.logs.lines.filter(({ level }) => level === "warn");
    expect(told.length).toBeLessThanOrEqual(22);
    expect(told[0]).toMatchObject({ details: { workflow: "sample", instance: "newer", ...CORRUPT } });
    expect(process.errors).toEqual([]);
    await makeKnown(process.store, engine, place);
    await process.drain();
    await expect(newer.result()).resolves.toBe("done");
    expect(await newer.status()).not.toHaveProperty("unreadable");
    expect(ended).toEqual(["neighbour", "newer"]);
  });

  test("holds up a rollback whose handlers need it, and none fails", async () => {
    const undone: unknown[] = [];
    const sample = defineWorkflow({ name: "sample" }, async (_: WorkflowEvent<unknown>, step) => {
      const rollback = async ({ output }: { readonly output?: unknown }) => void undone.push(output);
      await step.do("first", async () => ({ at: KNOWN }), { rollback });
      await step.sleep("a while", "1 hour").catch(() => {});
    });
    const process = subject.process({ sample });
    const instance = await process.workflows.sample.create({ id: "one" });
    await process.drain();
    await instance.terminate({ rollback: true });
    await makeNewer(process.store, engine, "result");
    for (let attempt = 1; attempt <= 5; attempt++) {
      await process.drain();
      subject.clock.advance(MINUTE);
    }

    expect(undone).toEqual([]);
    expect(await instance.status()).toMatchObject({ status: "rollingBack", unreadable: CORRUPT });
    await makeKnown(process.store, engine, "result");
    await process.drain();
    expect(undone).toEqual([{ at: KNOWN }]);
    expect(await instance.status()).toMatchObject({ status: "terminated", rollback: { outcome: "complete" } });
  });

  test.each([
    { place: "output", status: "complete" },
    { place: "error", status: "errored" },
  ] as const)("is marked in a list whose other instances are shown: $place", async ({ place, status }) => {
    const sample = defineWorkflow({ name: "sample" }, async ({ payload }: WorkflowEvent<unknown>) => {
      if (place === "error" && payload instanceof Date) throw Object.assign(new Error("no"), { at: payload });
      return payload;
    });
    const process = subject.process({ sample });
    for (const [id, params] of [
      ["newer", KNOWN],
      ["neighbour", "plain"],
    ] as const) {
      await process.workflows.sample.create({ id, params });
    }
    await process.drain();
    await makeNewer(process.store, engine, place);

    expect((await process.workflows.sample.list({ order: "oldest" })).instances).toMatchObject([
      { id: "newer", status, unreadable: CORRUPT },
      { id: "neighbour", status: "complete", output: "plain" },
    ]);
    const newer = await process.workflows.sample.get("newer");
    await expect(newer.status()).rejects.toMatchObject({ code: "value.corrupt" });
    await expect(newer.result()).rejects.toMatchObject({ code: "value.corrupt" });
  });
});
