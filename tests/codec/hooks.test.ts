import { describe, expect, test } from "vitest";
import { type Codec, defineHook } from "../../src/index.ts";
import { recordCalls } from "../hooks/support/handlers.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { BACKWARDS, NEW, OLD, ROTATED } from "./support/keys.ts";
import { MINUTE, openWith, UNABLE } from "./support/unable.ts";

describe.each(ENGINES)("a hook on $name", (engine) => {
  const subject = useHooks(engine);

  test.each(UNABLE)("waits for a process that can read it, and isn't used up by one $why", async ({ codec, code }) => {
    const greet = recordCalls<string>(() => {}, { retries: { limit: 0 } });
    const hooks = { greet: greet.definition };
    const writer = subject.process(hooks, { adapter: openWith(subject, OLD) });
    const { id } = await writer.hooks.greet.trigger("ada");

    const unable = subject.process(hooks, { adapter: openWith(subject, codec) });
    for (let attempt = 1; attempt <= 3; attempt++) {
      await unable.drain();
      expect(await writer.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0, payload: "ada" });
      subject.clock.advance(MINUTE);
    }
    await expect(unable.durableHooks.get(id)).rejects.toMatchObject({ code });
    expect(greet.payloads).toEqual([]);

    await writer.drain();
    expect(greet.payloads).toEqual(["ada"]);
    expect(await writer.durableHooks.get(id)).toBeNull();
  });

  test("that can't be read holds up no other hook, and is reported", async () => {
    const greet = recordCalls<string>();
    const hooks = { greet: greet.definition };
    await subject.process(hooks, { adapter: openWith(subject, OLD) }).hooks.greet.trigger("ada");
    const logs = new LogBook();
    const process = subject.process(hooks, { adapter: openWith(subject, NEW, logs) });
    await process.hooks.greet.trigger("bob");
    await process.drain();
    expect(greet.payloads).toEqual(["bob"]);
    expect(logs.messages("warn")).toEqual(["The payload of a hook can't be read at present; trying again later."]);
  });

  test("that was changed in the database isn't run", async () => {
    const greet = recordCalls<string>();
    const process = subject.process({ greet: greet.definition }, { adapter: openWith(subject, OLD) });
    const { id } = await process.hooks.greet.trigger("ada");
    const [from, to] = ['"aes-gcm:old:', '"aes-gcm:old:AAAA'];
    const change =
      engine.dialect === "sqlite"
        ? `update perdure_hook set payload = replace(payload, '${from}', '${to}') where id = '${id}'`
        : `update perdure.hook set payload = replace(payload::text, '${from}', '${to}')::json where id = '${id}'`;
    await process.store.engine.transaction((transaction) => transaction.query(change, []));
    await process.drain();
    expect(greet.payloads).toEqual([]);
    await expect(process.durableHooks.get(id)).rejects.toMatchObject({ code: "codec.refused" });
  });

  test("from before the codec is read, and one from before a new key too", async () => {
    const greet = recordCalls<string>();
    const hooks = { greet: greet.definition };
    for (const [name, codec] of [
      ["plain", undefined],
      ["old", OLD],
      ["new", NEW],
    ] as const) {
      await subject.process(hooks, { adapter: openWith(subject, codec) }).hooks.greet.trigger(name);
    }
    await subject.process(hooks, { adapter: openWith(subject, ROTATED) }).drain();
    expect(greet.payloads.toSorted()).toEqual(["new", "old", "plain"]);
  });

  test("that fails while its error can't be encoded has failed all the same, and tells nothing of the error", async () => {
    let away = false;
    const encode = (text: string) =>
      away ? Promise.reject(new Error("the key service is away")) : [...text].join(".");
    const decode = (text: string) => text.split(".").join("");
    const failing = (limit: number, delay: "1 hour" | number) =>
      recordCalls<string>(() => Promise.reject(new Error("a secret")), { retries: { limit, delay } });
    const [once, later] = [failing(1, 0), failing(5, "1 hour")];
    const hooks = { once: once.definition, later: later.definition };
    const process = subject.process(hooks, { adapter: openWith(subject, { encode, decode }) });
    const { id: failed } = await process.hooks.once.trigger("ada");
    const { id: waiting } = await process.hooks.later.trigger("bob");
    away = true;
    await process.drain();
    const error = { code: "codec.failed", message: expect.not.stringContaining("secret") };
    expect(await process.durableHooks.get(failed)).toMatchObject({ status: "failed", attempts: 2, error });
    expect(await process.durableHooks.get(waiting)).toMatchObject({ status: "pending", attempts: 1, error });
    expect([once.payloads, later.payloads]).toEqual([["ada", "ada"], ["bob"]]);
  });

  test("is refused, and nothing is stored, if its payload can't be encoded", async () => {
    const broken: Codec = { ...BACKWARDS, encode: () => Promise.reject(new Error("the key service is away")) };
    const process = subject.process({ greet: defineHook({}, () => {}) }, { adapter: openWith(subject, broken) });
    await expect(process.hooks.greet.trigger()).rejects.toMatchObject({
      code: "codec.failed",
      message: expect.not.stringContaining("the key service is away"),
    });
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });
});
