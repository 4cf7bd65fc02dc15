import { describe, expect, test } from "vitest";
import { type Alert, defineHook } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { forever, recordCalls } from "./support/handlers.ts";
import { eventually, LEASE_MS, useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("alerts of hooks on $name", (engine) => {
  const fixture = useHooks(engine);

  function listen() {
    const alerts: Alert[] = [];
    return { alerts, durableHooks: { onAlert: (alert: Alert) => alerts.push(alert) } };
  }

  test("report a hook that failed for good, and none that is retried or completed", async () => {
    const { alerts, durableHooks } = listen();
    const fails = defineHook({ retries: { limit: 1, delay: 0 } }, async (name: string) => {
      if (name !== "good") throw new RangeError(`no ${name}`);
    });
    const process = fixture.process({ fails }, { durableHooks });
    await process.hooks.fails.trigger("good");
    const { id } = await process.hooks.fails.trigger("ada");
    await process.drain();

    expect(alerts).toEqual([
      {
        kind: "deadLetter",
        at: new Date(fixture.clock.now()),
        namespace: fixture.namespace,
        target: { kind: "hook", hookName: "fails", hookId: id },
        attempts: 2,
        error: { name: "RangeError", message: "no ada" },
      },
    ]);
  });

  test("report a hook that is lost with its process three times in a row", async () => {
    const { alerts, durableHooks } = listen();
    const hooks = { hangs: defineHook({}, () => forever()) };
    const { id } = await fixture.process(hooks).hooks.hangs.trigger(undefined);
    for (let losses = 0; losses <= 4; losses++) {
      const before = alerts.length;
      const dying = fixture.process(hooks, { clock: fixture.anotherClock(), durableHooks });
      dying.drainBehind();
      await eventually(async () => expect((await dying.durableHooks.get(id))?.attempts).toBe(losses + 1));
      if (losses >= 3) await eventually(() => expect(alerts).toHaveLength(before + 1));
      await fixture.clock.advanceAndSettle(LEASE_MS);
    }
    const target = { kind: "hook", hookName: "hangs", hookId: id };
    expect(alerts).toMatchObject([
      { kind: "crashLoop", target, losses: 3 },
      { kind: "crashLoop", target, losses: 4 },
    ]);
  });

  test("report names that no live worker runs", async () => {
    const { alerts, durableHooks } = listen();
    const stranger = fixture.process({ greet: recordCalls<string>(() => {}).definition });
    await stranger.hooks.greet.trigger("ada");
    const process = fixture.process({ other: recordCalls<string>(() => {}).definition }, { durableHooks });
    process.start();
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(5000);
      expect(alerts).toMatchObject([{ kind: "unclaimed", hooks: ["greet"], workflows: [] }]);
    });
  });

  test("do no harm if the callback throws or rejects, and need a callback that is a function", async () => {
    const fails = defineHook({ retries: { limit: 0 } }, async (_name: string) => {
      throw new Error("no");
    });
    const throwing = () => {
      throw new Error("alert");
    };
    for (const onAlert of [throwing, async () => throwing()]) {
      const process = fixture.process({ fails }, { durableHooks: { onAlert } });
      const { id } = await process.hooks.fails.trigger("ada");
      await process.drain();
      await eventually(() => expect(process.logs.messages("error")).toContain("onAlert failed."));
      expect(await process.statusOf(id)).toBe("failed");
    }
    const wrong = () => fixture.process({ fails }, { durableHooks: { onAlert: "mail" as never } });
    expect(wrong).toThrow("onAlert must be a function");
  });
});
