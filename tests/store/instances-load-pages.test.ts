import { describe, expect, test } from "vitest";
import type { ClaimedInstance, InstanceHistory, NamedRun } from "../../src/store/instances/instance-records.ts";
import { PAGE_BYTES } from "../../src/store/instances/load-page.ts";
import { DRIVERS } from "../support/engines.ts";
import { RUNNING, useInstances } from "../support/use-instances.ts";

/** PostgreSQL compresses it to a hundredth: what counts is what is sent. */
const LARGE = JSON.stringify("x".repeat(300_000));

const toRun = (instance: ClaimedInstance): NamedRun => ({ ref: instance.ref, run: instance.run, instance });

describe.each(DRIVERS)("loading large instances on $name", (engine) => {
  const fixture = useInstances(engine);

  async function startWith(id: string, values: readonly string[]) {
    const instance = await fixture.start({ id });
    const entries = values.map((value, index) => fixture.entry({ name: `step ${index}`, value }));
    await fixture.commit(instance, RUNNING, { entries });
    return instance;
  }

  async function loadPages(instance: ClaimedInstance): Promise<InstanceHistory[]> {
    const pages: InstanceHistory[] = [];
    let after = { position: 0, sequence: 0 };
    for (let more = true; more; ) {
      const [page] = await fixture.statements.load([{ ...toRun(instance), after }]);
      if (page === undefined) throw new Error("It is gone.");
      pages.push(page);
      const { position = after.position } = page.entries.at(-1) ?? {};
      const { sequence = after.sequence } = page.events.at(-1) ?? {};
      after = { position, sequence };
      more = page.more === true;
    }
    return pages;
  }

  const load = (instance: ClaimedInstance) => {
    const { instances } = fixture.store.store;
    return instances.load(toRun(instance), instances.beginLoad());
  };

  const bytesOf = ({ entries, events }: InstanceHistory) =>
    [...entries.map(({ value }) => value), ...events.map(({ payload }) => payload)].join("").length;

  test("gives pages of bounded size, which together are the whole journal with all events", async () => {
    const instance = await startWith("a", Array(20).fill(LARGE));
    for (const eventId of ["one", "two", "three", "four", "five"]) await fixture.send("a", { eventId, payload: LARGE });

    const pages = await loadPages(instance);

    expect(pages.length).toBeGreaterThan(5);
    for (const page of pages) expect(bytesOf(page)).toBeLessThan(PAGE_BYTES + LARGE.length);
    expect(pages.flatMap(({ entries }) => entries.map(({ position }) => position))).toEqual(
      Array.from({ length: 20 }, (_, index) => index + 1),
    );
    expect(pages.flatMap(({ events }) => events.map(({ id }) => id))).toEqual(["one", "two", "three", "four", "five"]);
    expect(pages.at(-1)).toMatchObject({ wakes: 5 });
  });

  test("gives pages of bounded size of what came in since, which together are all events", async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `event-${index}`);
    const instances = [await fixture.start({ id: "a" }), await fixture.start({ id: "b" })];
    for (const { id } of instances) for (const eventId of ids) await fixture.send(id, { eventId, payload: LARGE });

    const pages = await fixture.statements.loadEvents(instances.map((instance) => ({ ...toRun(instance), after: 1 })));

    const bytes = pages.map(({ events }) => events.map(({ payload }) => payload).join("").length);
    expect(bytes.reduce((sum, each) => sum + each)).toBeLessThan(PAGE_BYTES + 2 * LARGE.length);
    expect(pages).toMatchObject([{ more: true }, { more: true }]);
    for (const instance of instances) {
      const { instances: stored } = fixture.store.store;
      const loaded = await stored.loadEvents({ ...toRun(instance), after: 1 }, stored.beginLoad());
      expect(loaded?.events.map(({ id }) => id)).toEqual(ids.slice(1));
      expect(loaded).toMatchObject({ wakes: 12 });
      expect(loaded).not.toHaveProperty("more");
    }
  });

  test("gives a value that is larger than a page on a page of its own", async () => {
    const instance = await startWith("a", ["1", JSON.stringify("y".repeat(PAGE_BYTES * 2)), "3"]);

    const pages = await loadPages(instance);

    expect(pages.flatMap(({ entries }) => entries.map(({ name }) => name))).toEqual(["step 0", "step 1", "step 2"]);
  });

  test("gives pages of many large runs that are asked for at once, none much larger than a single one", async () => {
    const instances = [];
    for (const id of ["a", "b", "c", "d", "e", "f"]) instances.push(await startWith(id, Array(2).fill(LARGE)));

    const pages = await fixture.statements.load(instances.map(toRun));

    expect(pages).toHaveLength(6);
    const total = pages.reduce((sum, page) => sum + bytesOf(page), 0);
    expect(total).toBeLessThan(PAGE_BYTES + LARGE.length);
    const whole = await Promise.all(instances.map((instance) => load(instance)));
    expect(whole.map((history) => history?.entries.length)).toEqual([2, 2, 2, 2, 2, 2]);
    for (const history of whole) expect(history).not.toHaveProperty("more");
  });

  test("gives many small runs as a whole with one statement", async () => {
    const instances = [];
    for (let index = 0; index < 20; index++) instances.push(await startWith(`${index}`, Array(10).fill('"small"')));

    const pages = await fixture.statements.load(instances.map(toRun));

    expect(pages.map(({ entries }) => entries.length)).toEqual(Array(20).fill(10));
    for (const page of pages) expect(page).not.toHaveProperty("more");
  });
});
