import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

const MINUTE = 60_000;

describe.each(ENGINES)("explain of a hook on $name", (engine) => {
  const fixture = useHooks(engine);

  function fail(): never {
    throw new RangeError("secret");
  }

  test("says when it is due, when it is retried and after which error, and that it failed for good", async () => {
    const greet = recordCalls<string>(fail, { retries: { delay: "1 minute", backoff: "constant" } });
    const process = fixture.process({ greet: greet.definition });
    const now = fixture.clock.now();
    const explain = (id: string) => process.durableHooks.explain(id);
    const { id: later } = await process.hooks.greet.trigger("ada", { processAt: new Date(now + MINUTE) });
    expect((await explain(later)).reason).toEqual({ reason: "scheduled", until: new Date(now + MINUTE) });

    const { id } = await process.hooks.greet.trigger("ada", { retries: { limit: 1 } });
    expect(await explain(id)).toEqual({
      reason: { reason: "noDispatcher" },
      sentence: "The hook is due, but no worker is alive: no process runs a dispatcher.",
      others: [],
    });
    await process.drain();
    const retried = await explain(id);
    expect(retried.reason).toMatchObject({
      reason: "retrying",
      step: null,
      attempt: 2,
      of: 2,
      due: new Date(now + MINUTE),
      error: { name: "RangeError", message: "secret" },
    });
    expect(retried.sentence).toContain("attempt 2 of 2");
    expect(retried.sentence).not.toContain("secret");
    fixture.clock.advance(MINUTE);
    await process.drain();
    expect((await explain(id)).reason).toMatchObject({
      reason: "finished",
      status: "failed",
      error: { message: "secret" },
    });
  });

  test("names the worker that holds it, or says that none runs its name", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const other = recordCalls<string>(() => {});
    const process = fixture.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    const stranger = fixture.process({ other: other.definition });
    stranger.start();
    await eventually(async () =>
      expect((await process.durableHooks.explain(id)).reason).toEqual({
        reason: "noWorker",
        name: "greet",
        workers: 1,
      }),
    );
    process.start();
    await eventually(async () =>
      expect((await process.durableHooks.explain(id)).reason).toMatchObject({
        reason: "running",
        leaseUntil: expect.any(Date),
        step: null,
      }),
    );
    gate.open();
  });

  test("refuses a hook that isn't there", async () => {
    const process = fixture.process({ greet: recordCalls<string>(() => {}).definition });
    await expect(process.durableHooks.explain("none")).rejects.toMatchObject({ code: "hook.not_found" });
  });
});
