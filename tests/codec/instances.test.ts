import { describe, expect, test } from "vitest";
import { type Codec, defineWorkflow, type WorkflowEvent } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useWorkflows, withTime } from "../workflows/support/use-workflows.ts";
import { BACKWARDS, NEW, OLD, ROTATED } from "./support/keys.ts";
import { MINUTE, openWith, UNABLE } from "./support/unable.ts";

describe.each(ENGINES)("an instance on $name", (engine) => {
  const subject = useWorkflows(engine);

  /** Sleeps in the middle, so that another process goes on with what is stored. */
  function sleeper(done: string[] = []) {
    return defineWorkflow({ name: "sleeper" }, async (event: WorkflowEvent<string>, step) => {
      const first = await step.do("first", async () => {
        done.push("first");
        return `${event.payload} 1`;
      });
      await step.sleep("a while", "1 hour");
      const { payload } = await step.waitForEvent<string>("word", { type: "word" });
      return [first, payload];
    });
  }

  test.each(UNABLE)("waits for a process that can read it, and isn't failed by one $why", async ({ codec, code }) => {
    const done: string[] = [];
    const workflows = { sleeper: sleeper(done) };
    const writer = subject.process(workflows, { adapter: openWith(subject, OLD) });
    const instance = await writer.workflows.sleeper.create({ id: "one", params: "ada" });
    const unable = subject.process(workflows, { adapter: openWith(subject, codec) });
    await unable.drain(); // the params can't be read
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    expect(done).toEqual([]);

    subject.clock.advance(MINUTE);
    await writer.drain();
    expect(done).toEqual(["first"]);
    await instance.sendEvent({ type: "word", payload: "secret" });
    for (let attempt = 1; attempt <= 25; attempt++) {
      await unable.drain(); // more often than an instance may be lost
      subject.clock.advance(MINUTE);
    }
    expect(await instance.status()).toMatchObject({ status: "waiting" });

    subject.clock.advance(60 * MINUTE);
    await writer.drain();
    expect(await instance.result()).toEqual(["ada 1", "secret"]);
    expect(done).toEqual(["first"]);
    const seen = await unable.workflows.sleeper.get("one");
    await expect(seen.status()).rejects.toMatchObject({ code });
    await expect(seen.result()).rejects.toMatchObject({ code });
    const { entries } = await seen.history();
    expect(entries.filter(({ unreadable }) => unreadable?.code === code).map(({ name }) => name)).toContain("first");
  });

  test("that sleeps through the switch to a codec and to another key ends", async () => {
    const workflows = { sleeper: sleeper() };
    const plain = subject.process(workflows, { adapter: openWith(subject, undefined) });
    await plain.workflows.sleeper.create({ id: "one", params: "ada" });
    await plain.drain();
    const old = subject.process(workflows, { adapter: openWith(subject, OLD) });
    await (await old.workflows.sleeper.get("one")).sendEvent({ type: "word", payload: "old" });
    const rotated = subject.process(workflows, { adapter: openWith(subject, ROTATED) });
    subject.clock.advance(60 * MINUTE);
    await rotated.drain();
    expect(await (await rotated.workflows.sleeper.get("one")).result()).toEqual(["ada 1", "old"]);
  });

  test("whose results can't be encoded at present continues when they can", async () => {
    let away = true;
    const failing: Codec = {
      ...BACKWARDS,
      encode: (text) => (away && text.includes("1") ? Promise.reject(new Error("away")) : BACKWARDS.encode(text, "")),
    };
    const workflows = { sleeper: sleeper() };
    const process = subject.process(workflows, { adapter: openWith(subject, failing) });
    const instance = await process.workflows.sleeper.create({ id: "one", params: "ada" });
    await process.drain();
    expect(await instance.status()).toMatchObject({ status: "waiting" });
    away = false;
    subject.clock.advance(MINUTE);
    await process.drain();
    expect((await instance.history()).entries[0]).toMatchObject({ name: "first", output: "ada 1" });
  });

  test("that waits for an event in memory isn't failed by one that it can't read", async () => {
    const workflow = defineWorkflow({ name: "waiter" }, async (_, step) => {
      const { payload } = await step.waitForEvent<string>("word", { type: "word", timeout: "4 seconds" });
      return payload;
    });
    const process = subject.start({ workflow }, { adapter: openWith(subject, NEW) });
    const instance = await process.workflows.workflow.create({ id: "one" });
    const other = subject.process({ workflow }, { adapter: openWith(subject, OLD) });
    await (await other.workflows.workflow.get("one")).sendEvent({ type: "word", payload: "unreadable" });
    await withTime(subject.clock, async () => expect((await instance.status()).status).toBe("waiting"));
    await process.stop();
    const able = subject.start({ workflow }, { adapter: openWith(subject, ROTATED) });
    const result = (await able.workflows.workflow.get("one")).result();
    subject.clock.advance(MINUTE);
    await expect(
      withTime(subject.clock, async () => (await instance.status()).status === "complete" || Promise.reject()),
    ).resolves.toBe(true);
    expect(await result).toBe("unreadable");
  });

  test("is found among others that can't be read", async () => {
    const workflow = defineWorkflow({ name: "easy" }, async (event: WorkflowEvent<string>) => event.payload);
    const old = subject.start({ workflow }, { adapter: openWith(subject, OLD) });
    const lost = await old.workflows.workflow.create({ id: "old", params: "old" });
    expect(await lost.result()).toBe("old");
    await old.stop(); // or it would take what it can't read
    const process = subject.start({ workflow }, { adapter: openWith(subject, NEW) });
    const unreadable = (await process.workflows.workflow.get("old")).result();
    unreadable.catch(() => {});
    const created = await process.workflows.workflow.create({ id: "new", params: "new" });
    expect(await created.result()).toBe("new");
    await expect(unreadable).rejects.toMatchObject({ code: "codec.key_missing" });
  });
});
