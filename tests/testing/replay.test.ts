import { describe, expect, test } from "vitest";
import { defineWorkflow, NonRetryableError, type WorkflowStep } from "../../src/index.ts";
import { createTestApp, replay } from "../../src/testing/index.ts";

type Code = (step: WorkflowStep, params: unknown) => Promise<unknown>;

const toWorkflow = (code: Code) => defineWorkflow({ name: "changed" }, (event, step) => code(step, event.payload));

/** What is stored of code that has run for a while. */
async function record(code: Code, { events = [] as string[], hours = 0, params = undefined as unknown } = {}) {
  await using app = await createTestApp({ workflows: { changed: toWorkflow(code) } });
  const instance = await app.workflows.changed.create({ id: "one", params: params as never });
  for (const payload of events) await instance.sendEvent({ type: "word", payload });
  await app.runUntilIdle();
  if (hours > 0) await app.advance(`${hours} hours`);
  return (await instance.history({ limit: 1000 })).entries;
}

const never = () => {
  throw new Error("A replay calls no function of a step.");
};

const before: Code = async (step) => {
  const first = await step.do("first", () => ({ at: new Date(5) }));
  await step.sleep("rest", "1 hour");
  await step.do("second", () => 2);
  await step.sleep("long", "300 days");
  return first;
};

describe("a replay", () => {
  test("of the same code continues where the history ends, and calls nothing", async () => {
    const entries = await record(before, { hours: 2 });
    let seen: unknown;
    const report = await replay(
      entries,
      toWorkflow(async (step) => {
        seen = await step.do("first", never);
        await step.sleep("rest", "1 hour");
        await step.do("second", never);
        await step.sleep("long", "300 days");
      }),
    );

    expect(report).toEqual({ outcome: "continues", next: ["sleep:long"], unreached: [], inserted: [], repeated: [] });
    expect(seen).toEqual({ at: new Date(5) });
  });

  test("reports a renamed step, and that an alias repairs it", async () => {
    const entries = await record(before, { hours: 2 });
    const renamed =
      (config: object): Code =>
      async (step) => {
        await step.do("one", config, never);
        await step.sleep("rest", "1 hour");
        await step.do("second", never);
        await step.sleep("long", "300 days");
      };

    expect(await replay(entries, toWorkflow(renamed({})))).toEqual({
      outcome: "continues",
      next: ["do:one"],
      unreached: ["do:first", "sleep:rest", "do:second", "sleep:long"],
      inserted: [],
      repeated: ["do:one"],
    });
    expect(await replay(entries, toWorkflow(renamed({ aliases: ["first"] })))).toEqual({
      outcome: "continues",
      next: ["sleep:long"],
      unreached: [],
      inserted: [],
      repeated: [],
    });
  });

  test("reports a new step in the middle, which would run", async () => {
    const entries = await record(before, { hours: 2 });
    const report = await replay(
      entries,
      toWorkflow(async (step) => {
        await step.do("first", never);
        await Promise.all([step.do("new", never), step.sleep("rest", "1 hour").then(() => step.do("second", never))]);
        await step.sleep("long", "300 days");
      }),
    );

    expect(report).toEqual({
      outcome: "continues",
      next: ["do:new"],
      unreached: ["sleep:long"],
      inserted: ["do:new"],
      repeated: [],
    });
  });

  test("reports a step that is gone, and how the code would end", async () => {
    const entries = await record(before, { hours: 2 });
    const report = await replay(
      entries,
      toWorkflow(async (step) => {
        const { at } = await step.do("first", never);
        return at;
      }),
    );

    expect(report).toEqual({
      outcome: "complete",
      output: new Date(5),
      next: [],
      unreached: ["sleep:rest", "do:second", "sleep:long"],
      inserted: [],
      repeated: [],
    });
  });

  test("tells a harmless insert from a step that may do again what is done", async () => {
    const entries = await record(before, { hours: 2 });
    const change = (...inserted: string[]) =>
      toWorkflow(async (step) => {
        for (const name of inserted) await step.do(name, never);
        if (!inserted.includes("instead")) await step.do("first", never);
        await step.sleep("rest", "1 hour");
        await step.do("second", never);
        await step.sleep("long", "300 days");
      });

    expect(await replay(entries, change("check", "note"))).toMatchObject({
      inserted: ["do:check", "do:note"],
      repeated: [],
    });
    expect(await replay(entries, change("instead"))).toMatchObject({ inserted: [], repeated: ["do:instead"] });
  });

  test("continues after new steps whose results are given", async () => {
    const entries = await record(before, { hours: 2 });
    const strict = toWorkflow(async (step) => {
      const { limit } = (await step.do("look up", never)) as { limit: number };
      await step.do("first", never);
      await step.sleep("rest", "1 hour");
      await step.do(`second of ${limit}`, { aliases: ["second"] }, never);
      await step.sleep("long", "300 days");
    });

    expect(await replay(entries, strict)).toMatchObject({ next: ["do:look up"], repeated: ["do:look up"] });
    expect(await replay(entries, strict, { results: { "do:look up": { limit: 5 } } })).toEqual({
      outcome: "continues",
      next: ["sleep:long"],
      unreached: [],
      inserted: ["do:look up"],
      repeated: [],
    });
  });

  test("ends for code that would call new steps forever", async () => {
    const entries = await record(before, { hours: 2 });
    const polling = toWorkflow(async (step) => {
      while ((await step.do("ready?", never)) !== true);
    });
    expect(await replay(entries, polling)).toMatchObject({ outcome: "continues", next: ["do:ready?"] });
  });

  test("gives back events, failures and params", async () => {
    const code: Code = async (step, params) => {
      const words = [];
      for (let round = 0; round < 2; round++) words.push((await step.waitForEvent("word", { type: "word" })).payload);
      const failure = await step
        .do("bad", () => {
          throw new NonRetryableError("no", "Refused");
        })
        .catch((error: Error) => `${error.name}: ${error.message}`);
      await step.sleep("long", "300 days");
      return { params, words, failure };
    };
    const entries = await record(code, { events: ["a", "b"], params: { order: 1 } });
    const [last] = entries.slice(-1);
    const report = await replay({ entries }, toWorkflow(code), {
      params: { order: 1 },
      at: new Date((last?.dueAt?.getTime() ?? 0) + 1),
    });

    expect(report).toMatchObject({
      outcome: "complete",
      output: { params: { order: 1 }, words: ["a", "b"], failure: "Refused: no" },
      next: [],
      unreached: [],
    });
  });

  test("knows steps inside steps, and children", async () => {
    const child = defineWorkflow({ name: "child" }, async () => "grown");
    const parent = defineWorkflow({ name: "parent" }, async (_event, step) => {
      await step.do("outer", async () => step.do("inner", () => 1));
      const first = await step.create(child, { id: "mine" });
      await step.sleep("rest", "1 hour");
      await step.create(child);
      return first.id;
    });
    await using app = await createTestApp({ workflows: { parent, child } });
    const instance = await app.workflows.parent.create({ id: "one" });
    await app.runUntilIdle();
    const history = await instance.history();

    expect(await replay(history, parent, { workflows: { child } })).toMatchObject({
      outcome: "continues",
      next: ["sleep:rest"],
      unreached: [],
    });
    const later = new Date(app.now() + 2 * 3_600_000);
    expect(await replay(history, parent, { workflows: { child }, at: later })).toMatchObject({
      next: ["create:child#2"],
    });
  });

  test("reports what new code would throw", async () => {
    const report = await replay(
      await record(before),
      toWorkflow(async () => Promise.reject(new TypeError("new bug"))),
    );

    expect(report).toMatchObject({ outcome: "errored", error: { name: "TypeError", message: "new bug" } });
  });

  test("takes a history that was kept as JSON", async () => {
    const entries = await record(
      async (step) => {
        await step.do("first", () => ({ id: 5 }));
        await step.sleep("rest", "1 hour");
      },
      { hours: 0 },
    );
    const code: Code = async (step) => {
      await step.do("first", never);
      await step.sleep("rest", "1 hour");
    };
    const kept = JSON.parse(JSON.stringify(entries));

    expect(await replay(kept, toWorkflow(code))).toMatchObject({
      outcome: "continues",
      next: ["sleep:rest"],
      unreached: [],
    });
    expect(await replay(kept, toWorkflow(code), { at: Date.parse(kept.at(-1).dueAt) })).toMatchObject({
      outcome: "complete",
    });
  });

  test("of a run that was rolled back is that of what its code did", async () => {
    const code: Code = async (step) => {
      await step.do("first", () => 1, { rollback: async () => {} });
      await step.do("second", () => Promise.reject(new NonRetryableError("broken")));
    };
    const entries = await record(code);

    expect(entries.map(({ kind }) => kind)).toContain("rolledBack");
    expect(await replay(entries, toWorkflow(code))).toMatchObject({
      outcome: "errored",
      error: { name: "NonRetryableError", message: "broken" },
      next: [],
      unreached: [],
    });
  });

  test("takes a history, and nothing else", async () => {
    const [entry] = await record(before);
    const page = { entries: [entry], cursor: "there is more" };
    for (const history of [null, {}, "history", 5, page, [{ a: 1 }], [{ ...entry, at: "noon" }], [null]]) {
      await expect(replay(history as never, toWorkflow(before))).rejects.toMatchObject({ code: "options.invalid" });
    }
    await expect(replay([], toWorkflow(before), { hurry: true } as never)).rejects.toMatchObject({
      code: "options.invalid",
    });
    expect(await replay([], toWorkflow(before))).toMatchObject({ outcome: "continues", next: ["do:first"] });
  });
});
