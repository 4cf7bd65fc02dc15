import { describe, expect, test } from "vitest";
import { Gate, recordCalls } from "../hooks/support/handlers.ts";
import { LEASE_MS, useHooks } from "../hooks/support/use-hooks.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

describe.each(ENGINES)("work whose owner was lost on $name", (engine) => {
  const under = useHooks(engine);

  /** Hooks that a process took and was lost with: it stands still, its time does too. */
  async function loseOwnerOf(count: number): Promise<void> {
    const greet = recordCalls<string>(() => new Promise(() => {}));
    const lost = under.process({ greet: greet.definition }, { clock: under.anotherClock() });
    lost.start();
    for (let index = 0; index < count; index++) await lost.hooks.greet.trigger(`lost ${index}`);
    await waitUntil("the owner had them", () => greet.calls.length === count);
    under.clock.advance(LEASE_MS);
  }

  /** A hook that notes what else runs while it does. */
  function recordCompany() {
    const running = new Set<string>();
    const company: string[][] = [];
    const greet = recordCalls<string>(async (name) => {
      running.add(name);
      await new Promise((resolve) => setImmediate(resolve));
      company.push([...running].toSorted());
      running.delete(name);
    });
    return { greet, company };
  }

  test("runs with nothing beside it that wasn't lost with it, even if other work was claimed with it", async () => {
    await loseOwnerOf(3);
    const { greet, company } = recordCompany();
    const process = under.process({ greet: greet.definition });
    for (let index = 0; index < 5; index++) await process.hooks.greet.trigger(`fresh ${index}`);
    process.start();
    await waitUntil("all ran", () => company.length === 8);

    for (const names of company) {
      const lost = names.filter((name) => name.startsWith("lost"));
      expect([0, names.length]).toContain(lost.length);
    }
  });

  test("starts at once when nothing else runs", async () => {
    await loseOwnerOf(1);
    const greet = recordCalls<string>();
    const process = under.process({ greet: greet.definition });
    process.start();

    // The clock stands still, so it waits for no other work.
    await waitUntil("it ran", () => greet.calls.length === 1);
    expect(greet.calls[0]?.hook.attempts).toBe(2);
  });

  test("holds up others for a bounded time only", async () => {
    await loseOwnerOf(1);
    const gate = new Gate();
    const greet = recordCalls<string>((name) => (name.startsWith("lost") ? gate.opened : undefined));
    const process = under.process({ greet: greet.definition });
    process.start();
    await waitUntil("the lost one ran", () => greet.calls.length === 1);
    await process.hooks.greet.trigger("fresh");
    await under.clock.advanceAndSettle(5000);

    await waitUntil("the fresh one ran", () => greet.payloads.includes("fresh"));
    gate.open();
  });

  test("waits for a slow neighbour for a bounded time only", async () => {
    await loseOwnerOf(1);
    const gate = new Gate();
    const greet = recordCalls<string>((name) => (name === "slow" ? gate.opened : undefined));
    const process = under.process({ greet: greet.definition });
    await process.hooks.greet.trigger("slow");
    process.start();
    await waitUntil("the slow one ran", () => greet.calls.length > 0);
    expect(greet.payloads).toEqual(["slow"]);
    await under.clock.advanceAndSettle(5000);

    await waitUntil("the lost one ran", () => greet.payloads.includes("lost 0"));
    gate.open();
  });
});
