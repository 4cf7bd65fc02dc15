import { describe, expect, test, vi } from "vitest";
import { defineHook } from "../../src/index.ts";
import { listUnclaimed } from "../../src/monitoring/list-unclaimed.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually, useHooks } from "./support/use-hooks.ts";

describe.each(ENGINES)("hooks under a name that no live worker runs, on $name", (engine) => {
  const fixture = useHooks(engine);
  const greet = defineHook((_name: string) => {});
  const gone = defineHook((_name: string) => {});

  const reports = ({ logs }: { logs: { lines: readonly { message: string }[] } }) =>
    logs.lines.filter(({ message }) => message.includes("no live worker runs"));

  test("are logged within seconds after the worker has started, once", async () => {
    const former = fixture.process({ greet, gone });
    await former.hooks.gone.trigger("ada");
    const worker = fixture.process({ greet });
    worker.start();
    await fixture.clock.advanceAndSettle(1);
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(1000);
      expect(reports(worker)).toMatchObject([
        { level: "warn", details: { namespace: fixture.namespace, hooks: ["gone"], workflows: [] } },
      ]);
    });
    for (let minute = 0; minute < 5; minute++) await fixture.clock.advanceAndSettle(60_000);

    expect(reports(worker)).toHaveLength(1);
  });

  test("are logged and listed behind thousands under another such name", async () => {
    const former = fixture.process({ greet, gone, rare: gone });
    const trigger = (name: string) => former.hooks.gone.trigger(name);
    await Promise.all(Array.from({ length: 1500 }, (_, index) => trigger(`ada ${index}`)));
    fixture.clock.advance(10);
    await former.hooks.rare.trigger("bob");
    const listed = await listUnclaimed(former.store, fixture.namespace);
    expect(listed.map(({ name, due }) => [name, due])).toEqual([
      ["gone", 1500],
      ["rare", 1],
    ]);
    const worker = fixture.process({ greet });
    worker.start();
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(1000);
      const names = worker.logs.lines.flatMap(({ details = {} }) => ("hooks" in details ? details["hooks"] : []));
      expect(names).toEqual(["gone", "rare"]);
    });
  });

  test("are listed for operators, with their number, until a live worker runs the name", async () => {
    const former = fixture.process({ greet, gone });
    const { store } = former;
    const list = () => listUnclaimed(store, fixture.namespace);
    const since = new Date(fixture.clock.now());
    await former.hooks.gone.trigger("ada");
    await former.hooks.gone.trigger("bob");
    await former.hooks.gone.trigger("later", { processAt: fixture.clock.now() + 60_000 });
    const worker = fixture.process({ greet });
    worker.start();
    await worker.hooks.greet.trigger("ada");
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(10);
      expect(await list()).toEqual([{ kind: "hook", name: "gone", due: 2, since }]);
    });
    former.start();

    await eventually(async () => {
      await fixture.clock.advanceAndSettle(10);
      expect(await list()).toEqual([]);
    });
  });

  test("aren't reported while another live worker runs them", async () => {
    const other = fixture.process({ gone }, { concurrency: 1 });
    other.start();
    await eventually(async () => expect(await other.store.workers.list(fixture.namespace)).toHaveLength(1));
    vi.spyOn(other.store.hooks.statements, "claim").mockResolvedValue([]); // it has no time
    const worker = fixture.process({ greet });
    worker.start();
    const list = vi.spyOn(worker.store.workers.statements, "list");
    await fixture.process({ gone }).hooks.gone.trigger("ada");
    await eventually(async () => {
      await fixture.clock.advanceAndSettle(1000);
      expect(list).toHaveBeenCalled();
    });
    for (let second = 0; second < 30; second++) await fixture.clock.advanceAndSettle(1000);

    expect(reports(worker)).toEqual([]);
    expect(list).toHaveBeenCalledTimes(1);
  });
});
