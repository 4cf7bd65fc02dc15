import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { Gate, recordCalls } from "./support/handlers.ts";
import { eventually, LEASE_MS, useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("namespaces that share a database, on $name", (engine) => {
  const fixture = useHooks(engine);

  /** Two with the same hooks, in one process or in two. */
  function two(where: "one process" | "two processes", behaviour?: (name: string) => unknown) {
    const [ours, theirs] = [recordCalls<string>(behaviour), recordCalls<string>(behaviour)];
    const durableHooks = { keepCompleted: "1 minute" } as const;
    const us = fixture.process({ greet: ours.definition }, { durableHooks });
    const shared = where === "one process" ? { adapter: us.adapter } : {};
    const namespace = `${fixture.namespace}-other`;
    const them = fixture.process({ greet: theirs.definition }, { namespace, durableHooks, ...shared });
    return { us, them, ours, theirs };
  }

  describe.each(["one process", "two processes"] as const)("from %s", (where) => {
    test("run their own hooks only", async () => {
      const { us, them, ours, theirs } = two(where);
      await us.hooks.greet.trigger("ada");
      await them.drain();
      expect(await them.processor.getNextWakeAt()).toBeNull();
      expect(theirs.payloads).toEqual([]);
      await us.drain();

      expect(ours.payloads).toEqual(["ada"]);
    });

    test("start hooks where they were triggered in their own namespace only", async () => {
      const { us, them, ours, theirs } = two(where);
      us.start();
      them.start();
      await us.hooks.greet.trigger("ada");
      await eventually(() => expect(ours.payloads).toEqual(["ada"]));
      await them.hooks.greet.trigger("bob");
      await eventually(() => expect(theirs.payloads).toEqual(["bob"]));

      expect(ours.payloads).toEqual(["ada"]);
    });

    test("don't take over each other's hooks", async () => {
      const gate = new Gate();
      const { us, them, ours, theirs } = two(where, () => gate.opened);
      await us.hooks.greet.trigger("ada");
      us.drainBehind();
      await eventually(() => expect(ours.calls).toHaveLength(1));
      await fixture.clock.advanceAndSettle(LEASE_MS);
      await them.drain();

      expect(theirs.calls).toEqual([]);
      gate.open();
    });

    test("have ids of their own", async () => {
      const { us, them, ours, theirs } = two(where);
      await us.hooks.greet.trigger("ada", { id: "one" });
      await them.hooks.greet.trigger("bob", { id: "one" });
      await Promise.all([us.drain(), them.drain()]);

      expect(ours.payloads).toEqual(["ada"]);
      expect(theirs.payloads).toEqual(["bob"]);
    });

    test("have keys of their own", async () => {
      const { us, them, ours, theirs } = two(where);
      await Promise.all([
        us.hooks.greet.trigger("ada", { key: "k" }),
        them.hooks.greet.trigger("bob", { key: "k" }),
        us.hooks.greet.trigger("cleo", { key: "k" }),
      ]);
      await them.durableHooks.cancel({ name: "greet", key: "k" });
      await Promise.all([us.drain(), them.drain()]);

      expect(ours.payloads).toEqual(["cleo"]);
      expect(theirs.payloads).toEqual([]);
    });

    test("see their own hooks only, and can touch no others", async () => {
      const { us, them } = two(where, (name) => name === "bad" && Promise.reject(new Error("no")));
      const ids: string[] = [];
      for (const name of ["ada", "bad"]) {
        ids.push((await us.hooks.greet.trigger(name, { retries: { limit: 0 } })).id);
      }
      await us.drain();
      const { id: waiting } = await us.hooks.greet.trigger("waits");
      ids.push(waiting);

      expect((await them.durableHooks.list()).hooks).toEqual([]);
      expect(await them.durableHooks.statistics()).toMatchObject({ pending: 0, failed: 0, completed: 0 });
      for (const id of ids) expect(await them.durableHooks.get(id)).toBeNull();
      expect(await them.durableHooks.redrive(ids)).toEqual([]);
      expect(await them.durableHooks.discard(ids)).toEqual([]);
      expect(await them.durableHooks.cancel(waiting)).toEqual({ cancelled: [], running: [] });
      await fixture.clock.advanceAndSettle(3_600_000);
      await them.processor.sources[0]?.purge();
      expect(await us.durableHooks.statistics()).toMatchObject({ pending: 1, failed: 1, completed: 1 });
    });
  });
});
