import { describe, expect, test, vi } from "vitest";
import { perdure } from "../../src/index.ts";
import type { Store } from "../../src/store/store.ts";
import { Gate, recordCalls } from "../hooks/support/handlers.ts";
import { useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

// The clock of these tests stands still: whatever happens doesn't wait for a deadline.
describe.each(ENGINES)("stopping on $name", (engine) => {
  const under = useHooks(engine);

  /** Keeps the answer to the next claim on its way until the gate is opened. */
  function delayNextClaim({ hooks: { statements } }: Store): { claimed: Gate; answer: Gate } {
    const claim = statements.claim.bind(statements);
    const gates = { claimed: new Gate(), answer: new Gate() };
    vi.spyOn(statements, "claim").mockImplementationOnce(async (request) => {
      const rows = await claim(request);
      gates.claimed.open();
      await gates.answer.opened;
      return rows;
    });
    return gates;
  }

  test("gives back uncounted the rows of a claim that was under way, and waits no longer", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    const ids = await Promise.all(["ada", "bob", "cy"].map((name) => process.hooks.greet.trigger(name)));
    const { claimed, answer } = delayNextClaim(process.store);
    process.start();
    await claimed.opened;
    const stopped = process.dispatcher.stopPolling();
    answer.open();
    await stopped;

    expect(greet.calls).toEqual([]);
    for (const { id } of ids) {
      expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
    }
  });

  test("waits no longer than for a claim that brings nothing", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    const { claimed, answer } = delayNextClaim(process.store);
    process.start();
    await claimed.opened;
    const stopped = process.dispatcher.stopPolling();
    answer.open();
    await stopped;

    expect(greet.calls).toEqual([]);
  });

  test("waits for what runs, and starts nothing more", async () => {
    const gate = new Gate();
    const greet = recordCalls<string>(() => gate.opened);
    const process = under.process({ greet: greet.definition }, { concurrency: 1 });
    await process.hooks.greet.trigger("ada");
    const second = await process.hooks.greet.trigger("bob");
    process.start();
    await waitUntil("the first ran", () => greet.calls.length === 1);
    const stopped = process.dispatcher.stopPolling();
    gate.open();
    await stopped;

    expect(greet.payloads).toEqual(["ada"]);
    expect((await process.durableHooks.list()).hooks).toMatchObject([
      { id: second.id, status: "pending", attempts: 0 },
    ]);
  });

  test("gives back uncounted, with its signal aborted, what doesn't end by the deadline", async () => {
    const greet = recordCalls<string>(() => new Promise(() => {}));
    const process = under.process({ greet: greet.definition });
    const { id } = await process.hooks.greet.trigger("ada");
    process.start();
    await waitUntil("it ran", () => greet.calls.length === 1);
    const stopped = process.dispatcher.stopPolling({ deadlineMs: 5000 });
    expect(greet.calls[0]?.hook.signal.aborted).toBe(false);
    await under.clock.advanceAndSettle(5000);
    await stopped;

    expect(greet.calls[0]?.hook.signal.reason).toMatchObject({ code: "attempt.shutdown" });
    expect(await process.durableHooks.get(id)).toMatchObject({ status: "pending", attempts: 0 });
    expect(process.errors).toEqual([]);
  });

  test("waits for outcomes that are on their way, whatever the deadline: they would run again", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    const { statements } = process.store.hooks;
    const write = statements.settle.bind(statements);
    const [sent, written] = [new Gate(), new Gate()];
    vi.spyOn(statements, "settle").mockImplementationOnce(async (settlements) => {
      sent.open();
      await written.opened;
      return write(settlements);
    });
    process.start();
    const { id } = await process.hooks.greet.trigger("ada");
    await sent.opened;
    let stopped = false;
    const stopping = process.dispatcher.stopPolling({ deadlineMs: 0 }).then(() => {
      stopped = true;
    });
    await process.clock.advanceAndSettle(0);
    expect(stopped).toBe(false);
    written.open();
    await stopping;

    expect(await process.durableHooks.get(id)).toBeNull();
  });

  test("can be followed by another start", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    process.start();
    await process.dispatcher.stopPolling();
    await process.hooks.greet.trigger("ada");
    process.start();

    await waitUntil("it ran", () => greet.calls.length === 1);
  });

  test("a dispatcher that never started, or twice, does nothing", async () => {
    const process = under.process({ greet: recordCalls<string>().definition });
    await process.dispatcher.stopPolling();
    process.start();
    await Promise.all([process.dispatcher.stopPolling(), process.dispatcher.stopPolling()]);
    await process.dispatcher.stopPolling();
  });

  test("with a deadline that isn't one is refused, and leaves it as it is", async () => {
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    process.start();
    for (const deadlineMs of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      const stopped = process.dispatcher.stopPolling({ deadlineMs });
      await expect(stopped).rejects.toMatchObject({ code: "options.invalid" });
    }
    await process.hooks.greet.trigger("ada");
    await waitUntil("it ran", () => greet.calls.length === 1);
    await process.dispatcher.stopPolling();
    await process.hooks.greet.trigger("bob");
    process.dispatcher.wake();
    await under.clock.advanceAndSettle(60_000);

    expect(greet.payloads).toEqual(["ada"]);
  });
});

test("an application that was given a wrong deadline can still be stopped", async () => {
  const app = await perdure({ database: ":memory:", hooks: { greet: recordCalls<string>().definition } });

  await expect(app.stop({ deadlineMs: -1 })).rejects.toMatchObject({ code: "options.invalid" });
  await app.stop();
  await expect(app.hooks.greet.trigger("ada")).rejects.toMatchObject({ code: "store.closed" });
});
