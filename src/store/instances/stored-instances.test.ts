import { describe, expect, test } from "vitest";
import { systemClock } from "../../clock.ts";
import { Meter } from "../../monitoring/meters/meter.ts";
import type { Engine } from "../engine.ts";
import type { InstanceHistory, JournalEntry, LoadRequest, StoredEvent } from "./instance-records.ts";
import { StoredInstances } from "./stored-instances.ts";

const MEGABYTE = 1024 * 1024;
const VALUE = "x".repeat(MEGABYTE);
const PAGES = 20;
const INSTANCE = { namespace: "app", name: "collect", id: "one" };

/** A database in which each run has many pages of a megabyte: entries, or events. */
function storeOfLargeRuns(part: "entries" | "events") {
  const page = ({ ref, run, after }: LoadRequest): InstanceHistory => {
    const number = (part === "entries" ? after?.position : after?.sequence) ?? 0;
    const entries = part === "entries" ? [{ position: number + 1, value: VALUE } as JournalEntry] : [];
    const events = part === "events" ? [{ sequence: number + 1, payload: VALUE } as StoredEvent] : [];
    return { ref, run, wakes: 0, entries, events, ...(number + 1 < PAGES && { more: true }) };
  };
  const instances = {
    load: async (runs: readonly LoadRequest[]) => runs.map(page),
    loadEvents: async (requests: readonly { ref: string; run: number; after: number }[]) =>
      requests.map(({ after, ...run }) =>
        page({ ...run, instance: INSTANCE, after: { position: 0, sequence: after } }),
      ),
  };
  const engine = { clock: systemClock, flushesInFlight: 2, instances } as unknown as Engine;
  return new StoredInstances(engine, new Meter(systemClock));
}

describe("instances in the database", () => {
  test("are loaded in bounded memory when many large ones wake at once", async () => {
    const store = storeOfLargeRuns("entries");
    let held = 0;
    let most = 0;
    const runs = Array.from({ length: 30 }, async (_, index) => {
      const load = store.beginLoad();
      const add = load.add.bind(load);
      load.add = (bytes) => {
        held += bytes;
        most = Math.max(most, held);
        add(bytes);
      };
      const history = await store.load({ ref: `ref-${index}`, run: 1, instance: INSTANCE }, load);
      expect(history?.entries).toHaveLength(PAGES);
      await new Promise((resolve) => setImmediate(resolve)); // it is replayed
      held -= PAGES * MEGABYTE;
      load.release();
    });
    await Promise.all(runs);

    expect(most).toBeLessThan((64 + PAGES + 2 * runs.length) * MEGABYTE);
    expect(held).toBe(0);
  });

  test("count the events that a run is sent while it is in memory", async () => {
    const store = storeOfLargeRuns("events");
    const load = store.beginLoad();
    let bytes = 0;
    load.add = (more) => {
      bytes += more;
    };
    await store.loadEvents({ ref: "ref", run: 1, instance: INSTANCE, after: 0 }, load);

    expect(bytes).toBe(PAGES * MEGABYTE);
  });
});
