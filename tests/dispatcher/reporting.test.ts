import { inspect } from "node:util";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createDurableHooksDispatcher, type DispatcherOptions } from "../../src/dispatchers/node.ts";
import { NonRetryableError, StoreError } from "../../src/errors.ts";
import { consoleLogger } from "../../src/logger.ts";
import { Gate, recordCalls } from "../hooks/support/handlers.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { LEASE_MS, useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

const MARKER = "the-payload-that-nobody-may-read";

describe.each(ENGINES)("an error on $name", (engine) => {
  const under = useHooks(engine);
  const stops: (() => Promise<void>)[] = [];

  afterEach(async () => {
    vi.restoreAllMocks();
    for (const stop of stops.splice(0)) await stop();
  });

  /** A dispatcher of the test's own, with a log to read. */
  function start(
    { processor }: Pick<DispatcherOptions, "processor">,
    options: Partial<DispatcherOptions> = {},
  ): LogBook {
    const logs = new LogBook();
    const dispatcher = createDurableHooksDispatcher({ processor, logger: logs, ...options });
    dispatcher.startPolling();
    stops.push(() => dispatcher.stopPolling({ deadlineMs: 0 }));
    return logs;
  }

  function fail(): never {
    throw new TypeError("no such mailbox");
  }

  test("in a handler is reported to onError, with the error itself", async () => {
    const greet = recordCalls<string>(fail, { retries: { limit: 0 } });
    const process = under.process({ greet: greet.definition });
    const onError = vi.fn<NonNullable<DispatcherOptions["onError"]>>();
    const logs = start(process, { onError });
    const { id } = await process.hooks.greet.trigger(MARKER);
    await waitUntil("it was told", () => onError.mock.calls.length === 1);

    const [error, { attempt }] = onError.mock.calls[0] ?? [undefined, { attempt: null }];
    expect(error).toBeInstanceOf(TypeError);
    expect(attempt).toMatchObject({ error, attempt: 1, final: true });
    expect(attempt?.description).toContain(id);
    expect(attempt?.description).not.toContain(MARKER);
    expect(logs.lines).toEqual([]);
  });

  test("in a handler is logged without onError, and without the hook's payload", async () => {
    const greet = recordCalls<string>(fail, { retries: { limit: 1, delay: 1, backoff: "constant" } });
    const process = under.process({ greet: greet.definition });
    const logs = start(process);
    const { id } = await process.hooks.greet.trigger(MARKER);
    await waitUntil("the first attempt was logged", () => logs.lines.length === 1);
    await waitUntil("the second was", async () => {
      await under.clock.advanceAndSettle(1);
      return logs.lines.length === 2;
    });

    expect(logs.lines.map(({ level }) => level)).toEqual(["warn", "error"]);
    for (const { message, details } of logs.lines) {
      expect(message).toContain(id);
      expect(details?.["error"]).toMatchObject({ name: "TypeError", message: "no such mailbox" });
    }
    expect(inspect(logs.lines, { depth: null })).not.toContain(MARKER);
  });

  test("of a handler that says that it is permanent is logged as such at once", async () => {
    const greet = recordCalls<string>(() => {
      throw new NonRetryableError("gone for ever");
    });
    const process = under.process({ greet: greet.definition });
    const logs = start(process);
    await process.hooks.greet.trigger(MARKER);
    await waitUntil("it was logged", () => logs.lines.length === 1);

    expect(logs.lines[0]).toMatchObject({
      level: "error",
      details: { error: { message: "gone for ever" }, attempt: 1 },
    });
  });

  test.each<{ how: string; onError: NonNullable<DispatcherOptions["onError"]> }>([
    { how: "throws", onError: fail },
    { how: "rejects", onError: async () => fail() },
  ])("in an onError that $how is logged, and the dispatcher goes on", async ({ onError }) => {
    const greet = recordCalls<string>((name) => (name === MARKER ? fail() : undefined), { retries: { limit: 0 } });
    const process = under.process({ greet: greet.definition });
    const logs = start(process, { onError });
    const { id } = await process.hooks.greet.trigger(MARKER);
    await waitUntil("it was logged", () => logs.messages("error").includes("onError threw."));
    await process.hooks.greet.trigger("ada");
    await waitUntil("the next one ran", () => greet.payloads.includes("ada"));

    expect(await process.statusOf(id)).toBe("failed");
    expect(inspect(logs.lines, { depth: null })).toContain("no such mailbox");
    expect(inspect(logs.lines, { depth: null })).not.toContain(MARKER);
  });

  test("in the database is logged without onError", async () => {
    const process = under.process({ greet: recordCalls<string>().definition });
    const away = new StoreError("store.unavailable", "the disk is gone", { transient: true });
    vi.spyOn(process.store.hooks.statements, "claim").mockRejectedValue(away);
    const logs = start(process);
    await waitUntil("it was logged", () => logs.lines.length > 0);

    expect(logs.lines[0]).toMatchObject({ level: "error", details: { error: { message: "the disk is gone" } } });
  });

  test("while an outcome is written is logged, and the outcome is sent again: the hook doesn't run twice", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    const { logs } = process;
    const refused = new StoreError("store.rejected", "refused", { transient: false });
    const settle = vi.spyOn(process.store.hooks.statements, "settle").mockRejectedValue(refused);
    start(process);
    const { id } = await process.hooks.greet.trigger("ada");
    await waitUntil("it was logged", () => logs.messages("warn").length > 0);
    expect(logs.messages("warn")[0]).toContain("it is sent again until it is");
    expect(await process.statusOf(id)).toBe("processing");
    settle.mockRestore();

    await waitUntil("its outcome was written", async () => {
      await under.clock.advanceAndSettle(1000);
      return (await process.statusOf(id)) === null;
    });
    expect(greet.calls).toHaveLength(1);
  });

  test("while a lease is renewed is reported, and the handler is stopped when the lease ends", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const process = under.process({ greet: greet.definition });
    const away = new StoreError("store.unavailable", "away", { transient: true });
    vi.spyOn(process.store.hooks.statements, "renew").mockRejectedValue(away);
    const onError = vi.fn<NonNullable<DispatcherOptions["onError"]>>();
    start(process, { onError });
    await process.hooks.greet.trigger("ada");
    await waitUntil("it ran", () => greet.calls.length === 1);
    await under.clock.advanceAndSettle(LEASE_MS);
    gate.open();

    expect(onError).toHaveBeenCalledWith(away, { attempt: null });
    expect(greet.calls[0]?.hook.signal.reason).toMatchObject({ code: "attempt.lease_lost" });
  });
});

test("the console is the log unless another is given", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  consoleLogger.warn("careful", { id: 1 });
  consoleLogger.warn("careful");

  expect(warn.mock.calls).toEqual([["[perdure] careful", { id: 1 }], ["[perdure] careful"]]);
  warn.mockRestore();
});
