import { describe, expect, test } from "vitest";
import { ENCRYPTED_SQLITE, ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const SECOND = 1000;

describe.each([...ENGINES, ENCRYPTED_SQLITE])("cancel on $name", (engine) => {
  const fixture = useHooks(engine);

  test("takes an id too, and leaves other hooks alone", async () => {
    const greet = recordCalls<string>();
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    await process.hooks.greet.trigger("bob");

    expect(await process.durableHooks.cancel(id)).toEqual({ cancelled: [id], running: [] });
    expect(await process.durableHooks.cancel(id)).toEqual({ cancelled: [], running: [] });
    await process.drain();
    expect(greet.payloads).toEqual(["bob"]);
  });

  test("reports that a running hook continues", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    const drained = process.drain();
    await eventually(() => expect(greet.calls).toHaveLength(1));
    expect(await process.durableHooks.cancel(id)).toEqual({ cancelled: [], running: [id] });
    gate.open();
    await drained;

    expect(await process.statusOf(id)).toBeNull();
  });

  test("cancels a hook that waits for a retry", async () => {
    const greet = recordCalls<string>(() => Promise.reject("no"), { retries: { delay: SECOND } });
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    await process.drain();
    expect(await process.durableHooks.cancel(id)).toEqual({ cancelled: [id], running: [] });
    await fixture.clock.advanceAndSettle(60 * SECOND);
    await process.drain();

    expect(greet.calls).toHaveLength(1);
  });

  test("does nothing to dead letters", async () => {
    const greet = recordCalls<string>(() => Promise.reject("no"), { retries: { limit: 0 } });
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada", { key: "k" });
    await process.drain();

    expect(await process.durableHooks.cancel(id)).toEqual({ cancelled: [], running: [] });
    expect(await process.durableHooks.cancel({ name: "greet", key: "k" })).toEqual({ cancelled: [], running: [] });
    expect(await process.statusOf(id)).toBe("failed");
  });
});
