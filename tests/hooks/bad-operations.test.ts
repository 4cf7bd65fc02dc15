import { describe, expect, test } from "vitest";
import type { DurableHooks } from "../../src/hooks/durable-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { recordCalls } from "./support/handlers.ts";
import { useHooks } from "./support/use-hooks.ts";

type Call = (hooks: DurableHooks) => Promise<unknown>;

const list =
  (options: unknown): Call =>
  (hooks) =>
    hooks.list(options as never);
const many = Array.from({ length: 1001 }, (_, number) => String(number));

const CALLS: [string, Call, string, string][] = [
  ["get without an id", (hooks) => hooks.get(undefined as never), "text.invalid", "An id must be a text of 1 to 356"],
  ["get an empty id", (hooks) => hooks.get(""), "text.invalid", "An id must be a text"],
  ["get with a control character", (hooks) => hooks.get("a\0"), "text.invalid", "without control characters"],
  [
    "list with a text",
    list("all"),
    "options.invalid",
    "it takes status, name, idPrefix, createdFrom, createdBefore, error, cursor, limit, order",
  ],
  ["list with null", list(null), "options.invalid", "A list takes its options as an object"],
  ["list with an unknown option", list({ state: "failed" }), "options.invalid", 'A list has no option "state"'],
  ["list an unknown status", list({ status: "done" }), "options.invalid", "pending, processing, failed, completed"],
  ["list a name that can't be", list({ name: "no spaces" }), "name.invalid", "The name of a hook must be 1 to 100"],
  ["list none", list({ limit: 0 }), "options.invalid", "limit must be a whole number from 1 to 1000"],
  ["list too many", list({ limit: 1001 }), "options.invalid", "limit must be a whole number from 1 to 1000"],
  ["list some and a half", list({ limit: 1.5 }), "options.invalid", "limit must be a whole number"],
  ["list as a text says", list({ limit: "5" }), "options.invalid", "limit must be a whole number"],
  ["list in no order", list({ order: "random" }), "options.invalid", "order must be newest or oldest"],
  ["list from an empty cursor", list({ cursor: "" }), "cursor.invalid", "The cursor isn't one of this list"],
  ["list from a made-up cursor", list({ cursor: "page 2" }), "cursor.invalid", "isn't one of this list"],
  ["list from a number", list({ cursor: 2 }), "cursor.invalid", "isn't one of this list"],
  ["list from broken bytes", list({ cursor: "_w" }), "cursor.invalid", "isn't one of this list"],
  ["list from a long cursor", list({ cursor: "a".repeat(4000) }), "cursor.invalid", "isn't one of this list"],
  [
    "list dead letters of a status",
    (hooks) => hooks.deadLetters({ status: "completed" } as never),
    "options.invalid",
    'A list of dead letters has no option "status"',
  ],
  ["list dead letters with a number", (hooks) => hooks.deadLetters(5 as never), "options.invalid", "as an object"],
  ["redrive a number", (hooks) => hooks.redrive(5 as never), "text.invalid", "An id must be a text"],
  ["redrive nothing", (hooks) => hooks.redrive(undefined as never), "text.invalid", "got a value of type undefined"],
  ["redrive one of many", (hooks) => hooks.redrive(["a", ""]), "text.invalid", "An id must be a text"],
  ["redrive too many", (hooks) => hooks.redrive(many), "options.invalid", "At most 1000 ids at a time"],
  ["discard null", (hooks) => hooks.discard(null as never), "text.invalid", "got null"],
  ["discard too many", (hooks) => hooks.discard(many), "options.invalid", "At most 1000 ids at a time"],
  ["cancel nothing", (hooks) => hooks.cancel(undefined as never), "text.invalid", "An id must be a text"],
  ["cancel a number", (hooks) => hooks.cancel(5 as never), "text.invalid", "An id must be a text"],
  ["cancel a key without a name", (hooks) => hooks.cancel({ key: "k" } as never), "name.invalid", "The name of a hook"],
  [
    "cancel a name without a key",
    (hooks) => hooks.cancel({ name: "a" } as never),
    "text.invalid",
    "A key must be a text",
  ],
];

describe.each(ENGINES)("a bad operation of an operator on $name", (engine) => {
  const fixture = useHooks(engine);

  test.each(CALLS)("rejects and changes nothing: %s", async (_, call, code, message) => {
    const greet = recordCalls<string>(() => Promise.reject("no"), { retries: { limit: 0 } });
    const process = fixture.process({ greet: greet.definition });
    for (const id of ["a", "b"]) await process.hooks.greet.trigger(id, { id });
    await process.drain();
    await process.hooks.greet.trigger("waits", { key: "k" });
    const before = await process.durableHooks.list();

    // A promise that rejects, never a throw: both styles of handling errors must work.
    let answer: Promise<unknown> | undefined;
    expect(() => {
      answer = call(process.durableHooks);
    }).not.toThrow();
    await expect(answer).rejects.toMatchObject({
      name: "InvalidInputError",
      code,
      message: expect.stringContaining(message),
    });
    expect(await process.durableHooks.list()).toEqual(before);
  });
});
