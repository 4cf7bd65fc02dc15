import { describe, expect, test } from "vitest";
import { type Duration, defineHook } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("the timeout of a hook on $name", (engine) => {
  const fixture = useHooks(engine);

  test("ends an attempt that takes longer, aborts its signal, and counts it as failed", async () => {
    const reasons: unknown[] = [];
    const hangs = defineHook(
      { timeout: "30s", retries: { limit: 1, delay: 0 } },
      (_: string, hook) =>
        new Promise<void>(() => hook.signal.addEventListener("abort", () => reasons.push(hook.signal.reason))),
    );
    const process = fixture.process({ hangs });
    const { id } = await process.hooks.hangs.trigger("ada");
    const drained = process.drain();
    while (reasons.length < 2) await fixture.clock.advanceAndSettle(1000);
    await drained;

    expect(reasons).toMatchObject([{ code: "hook.timeout" }, { code: "hook.timeout" }]);
    expect(await process.durableHooks.get(id)).toMatchObject({
      status: "failed",
      attempts: 2,
      error: { code: "hook.timeout", message: expect.stringContaining("30000 milliseconds") },
    });
  });
});

test.each<Duration>([0, "2 days", "soon" as Duration])("refuses a timeout of %j", (timeout) => {
  expect(() => defineHook({ timeout }, () => {})).toThrow(/timeout/);
});
