import type { StandardSchemaV1 } from "@standard-schema/spec";
import { describe, expect, test } from "vitest";
import { defineHook } from "../../src/hooks/define-hook.ts";
import type { TriggerOptions } from "../../src/hooks/trigger.ts";
import { ENGINES } from "../support/engines.ts";
import { recordCalls } from "./support/handlers.ts";
import { useHooks } from "./support/use-hooks.ts";

const MEBIBYTE = 1024 * 1024;

class Account {
  readonly owner = "ada";
}

function cycle(): unknown {
  const node: { next?: unknown } = {};
  node.next = { back: [node] };
  return node;
}

type Validate = StandardSchemaV1.Props<string>["validate"];

function schemaOf(validate: Validate): StandardSchemaV1<string> {
  return { "~standard": { version: 1, vendor: "test", validate } };
}

const OPTIONS: [string, unknown, string, string][] = [
  ["options that are null", null, "trigger.invalid", "A trigger takes its options as an object"],
  ["options that are a text", "soon", "trigger.invalid", "it takes processAt, key, debounce, retries, id"],
  ["options that are a date", new Date(), "trigger.invalid", "A trigger takes its options as an object"],
  ["options that are an array", [{ key: "k" }], "trigger.invalid", "A trigger takes its options as an object"],
  ["an unknown option", { delay: 5 }, "trigger.invalid", 'A trigger has no option "delay"; it takes processAt, key'],
  [
    "a time that is a text",
    { processAt: "2031-01-01" },
    "trigger.invalid",
    "processAt must be a Date, or milliseconds",
  ],
  ["a date that is none", { processAt: new Date("soon") }, "trigger.invalid", "processAt must be a Date"],
  ["a time that is a fraction", { processAt: 1.5 }, "trigger.invalid", "as a whole number"],
  ["an infinite time", { processAt: Number.POSITIVE_INFINITY }, "trigger.invalid", "before the year 10000"],
  ["a time in microseconds", { processAt: Date.now() * 1000 }, "trigger.invalid", "before the year 10000"],
  ["no time", { processAt: null }, "trigger.invalid", "processAt must be a Date"],
  ["an empty key", { key: "" }, "text.invalid", "A key must be a text of 1 to 255 characters"],
  ["a key that is too long", { key: "k".repeat(256) }, "text.invalid", '"kkkkkkkkkk'],
  ["a key that is a number", { key: 5 }, "text.invalid", "got a value of type number"],
  ["a key with a control character", { key: "a\nb" }, "text.invalid", "without control characters"],
  ["a key with NUL", { key: "a\0b" }, "text.invalid", "without control characters"],
  ["a key with half a character", { key: "\ud800" }, "text.invalid", "broken surrogates"],
  ["a debounce without a key", { debounce: 5 }, "trigger.invalid", "A trigger with debounce needs a key"],
  [
    "a debounce and a time",
    { key: "k", debounce: 5, processAt: 5 },
    "trigger.invalid",
    "processAt or debounce, not both",
  ],
  ["a debounce of null", { key: "k", debounce: null }, "trigger.invalid", "debounce takes its options as an object"],
  ["a debounce that is true", { key: "k", debounce: true }, "duration.invalid", "debounce.delay is a boolean"],
  ["a debounce with an unknown unit", { key: "k", debounce: "5 moons" }, "duration.invalid", "debounce.delay is"],
  ["a debounce without a delay", { key: "k", debounce: { maxWait: 5 } }, "duration.invalid", "debounce.delay is"],
  [
    "a debounce with an unknown field",
    { key: "k", debounce: { delay: 5, wait: 5 } },
    "trigger.invalid",
    'debounce has no option "wait"; it takes delay, maxWait',
  ],
  ["a debounce that is too long", { key: "k", debounce: "366 days" }, "trigger.invalid", "at most 365 days"],
  [
    "a maxWait that is too long",
    { key: "k", debounce: { delay: 5, maxWait: "1.1 years" } },
    "trigger.invalid",
    "debounce.maxWait is 34713360000 ms, but can be at most 365 days",
  ],
  [
    "a maxWait shorter than the delay",
    { key: "k", debounce: { delay: 5, maxWait: 4 } },
    "trigger.invalid",
    "it must be as long or longer, or false",
  ],
  ["an infinite maxWait", { key: "k", debounce: { delay: 5, maxWait: 1 / 0 } }, "duration.invalid", "debounce.maxWait"],
  ["an empty id", { id: "" }, "text.invalid", "An id must be a text of 1 to 255 characters"],
  ["an id that is too long", { id: "i".repeat(256) }, "text.invalid", "(256 characters)"],
  ["an id that is null", { id: null }, "text.invalid", "got null"],
  ["an id with a control character", { id: "\u007f" }, "text.invalid", "without control characters"],
  ["a policy that is a number", { retries: 5 }, "retries.invalid", "retries takes its options as an object"],
  ["a policy with an unknown field", { retries: { max: 5 } }, "retries.invalid", 'retries has no option "max"'],
  ["a limit below zero", { retries: { limit: -1 } }, "retries.invalid", "retries.limit must be a whole number from 0"],
  ["a limit that is too high", { retries: { limit: 10_001 } }, "retries.invalid", "from 0 to 10000"],
  ["an unknown backoff", { retries: { backoff: "random" } }, "retries.invalid", "constant, linear, exponential"],
  ["an unknown unit", { retries: { delay: "5 moons" } }, "duration.invalid", 'the unit "moons" isn\'t known'],
  ["a negative delay", { retries: { maxDelay: -5 } }, "duration.invalid", "retries.maxDelay is -5"],
];

const PAYLOADS: [string, unknown, string, string][] = [
  ["a function", () => {}, "value.unsupported", "payload is"],
  ["a function inside", { list: [1, { call() {} }] }, "value.unsupported", "payload.list[1].call is"],
  ["a symbol", { tag: Symbol("tag") }, "value.unsupported", "payload.tag is"],
  [
    "an instance of a class",
    { account: new Account() },
    "value.unsupported",
    "payload.account is an instance of Account",
  ],
  ["a promise", { answer: Promise.resolve(1) }, "value.unsupported", "Was an await forgotten?"],
  ["a WeakMap", new WeakMap(), "value.unsupported", "can't be stored"],
  ["a cycle", cycle(), "value.cycle", "payload.next.back[0] is a reference back to payload"],
  ["more than a mebibyte", "x".repeat(MEBIBYTE), "value.too_large", `payload is larger than ${MEBIBYTE} bytes`],
];

describe.each(ENGINES)("bad triggers on $name", (engine) => {
  const fixture = useHooks(engine);

  /** Triggers in a unit of work and by itself: each must throw, and nothing may be stored. */
  async function refuse(payload: unknown, options: unknown) {
    const process = fixture.process({ greet: recordCalls<unknown>().definition });
    let thrown: unknown;
    const work = process.unitOfWork(async (uow) => {
      uow.triggerHook("greet", "good");
      try {
        uow.triggerHook("greet", payload, options as TriggerOptions);
      } catch (error) {
        thrown = error;
        throw error;
      }
    });
    expect(await work.catch((error: unknown) => error)).toBe(thrown);
    await expect(process.hooks.greet.trigger(payload, options as TriggerOptions)).rejects.toEqual(thrown);
    expect((await process.durableHooks.list()).hooks).toEqual([]);
    return thrown;
  }

  test.each(OPTIONS)("with %s are refused, and nothing is stored", async (_, options, code, message) => {
    expect(await refuse("ada", options)).toMatchObject({
      name: "InvalidInputError",
      code,
      message: expect.stringContaining(message),
    });
  });

  test.each(PAYLOADS)("with %s are refused, and nothing is stored", async (_, payload, code, message) => {
    expect(await refuse(payload, {})).toMatchObject({
      name: "InvalidInputError",
      code,
      message: expect.stringContaining(message),
    });
  });

  test.each(["constructor", "__proto__", "toString", "", "greet ", 5, null, undefined, {}])(
    "of a hook called %j, which isn't there, are refused",
    async (name) => {
      const process = fixture.process({ greet: recordCalls<string>().definition });
      const work = process.unitOfWork(async (uow) => uow.triggerHook(name as "greet", "ada"));

      await expect(work).rejects.toMatchObject({ name: "NotFoundError", code: "hook.unknown" });
      expect((await process.durableHooks.list()).hooks).toEqual([]);
    },
  );

  test("may have payloads up to the limit, counted in bytes of what is stored", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    await process.hooks.greet.trigger("x".repeat(MEBIBYTE - 2));
    await process.hooks.greet.trigger("é".repeat(MEBIBYTE / 2 - 1));
    await expect(process.hooks.greet.trigger("é".repeat(MEBIBYTE / 2))).rejects.toMatchObject({
      code: "value.too_large",
      message: expect.stringContaining("Keep large data elsewhere"),
    });
    await process.drain();

    expect(greet.payloads.map((payload) => payload.length)).toEqual([MEBIBYTE - 2, MEBIBYTE / 2 - 1]);
  });

  test.each([
    ["lower", 10, "12345678", "123456789"],
    ["higher", 3 * MEBIBYTE, "x".repeat(3 * MEBIBYTE - 2), "x".repeat(3 * MEBIBYTE - 1)],
  ])("have the limit that maxPayloadBytes sets: %s", async (_, maxPayloadBytes, accepted, refused) => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition }, { durableHooks: { maxPayloadBytes } });
    await process.hooks.greet.trigger(accepted);
    await expect(process.hooks.greet.trigger(refused)).rejects.toMatchObject({ code: "value.too_large" });
    await process.drain();

    expect(greet.payloads).toEqual([accepted]);
  });

  test("may have ids and keys with everything that isn't refused", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const text = `${"😀".repeat(60)} '";--$1?%_\\ ${"é".repeat(100)}`;
    expect(text.length).toBeLessThan(256);
    const { id } = await process.hooks.greet.trigger("ada", { id: text });
    const keyed = await process.hooks.greet.trigger("eve", { key: text });
    expect(id).toBe(`greet/${text}`);
    expect(await process.durableHooks.get(keyed.id)).toMatchObject({ key: text });
    await process.drain();

    expect(greet.calls.map(({ hook }) => hook.hookId).sort()).toEqual([id, keyed.id].sort());
  });

  test("have an id or a key, not both", async () => {
    const process = fixture.process({ greet: recordCalls<string>().definition });
    const trigger = process.hooks.greet.trigger("ada", { id: "one", key: "many" });
    await expect(trigger).rejects.toMatchObject({
      code: "trigger.invalid",
      message: expect.stringContaining("not both"),
    });
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("are refused where the context of a trace can't be stored", async () => {
    const captureTraceContext = () => ({ traceparent: (() => {}) as unknown as string });
    const process = fixture.process(
      { greet: recordCalls<string>().definition },
      { durableHooks: { captureTraceContext } },
    );

    await expect(process.hooks.greet.trigger("ada")).rejects.toMatchObject({
      code: "value.unsupported",
      message: expect.stringContaining("traceContext.traceparent is"),
    });
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("are refused when a schema throws, with its own error", async () => {
    const broken = new Error("the schema is broken");
    const schema = schemaOf(() => {
      throw broken;
    });
    const process = fixture.process({ greet: defineHook({ input: schema }, () => {}) });

    await expect(process.unitOfWork(async (uow) => uow.triggerHook("greet", "ada"))).rejects.toBe(broken);
    await expect(process.hooks.greet.trigger("ada")).rejects.toBe(broken);
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });

  test("have their options checked at once, also where the schema is asynchronous", async () => {
    const schema = schemaOf(async (value) => ({ value: value as string }));
    const process = fixture.process({ greet: defineHook({ input: schema }, (_: string) => {}) });

    await process.unitOfWork(async (uow) => {
      const trigger = (options: unknown) => () => uow.triggerHook("greet", "ada", options as TriggerOptions);
      for (const [, options, code] of OPTIONS) expect(trigger(options)).toThrow(expect.objectContaining({ code }));
    });
    expect((await process.durableHooks.list()).hooks).toEqual([]);
  });
});
