import { afterEach, describe, expect, test } from "vitest";
import type { Wakeups } from "../../src/store/engine.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { waitUntil } from "../support/wait-until.ts";

describe("wake-ups between processes on PostgreSQL", () => {
  const fixture = usePostgres();
  const subscriptions: (() => void)[] = [];
  afterEach(() => {
    for (const unsubscribe of subscriptions.splice(0)) unsubscribe();
  });

  /** A process that listens, and what it has heard. */
  async function listen(): Promise<{ wakeups: Wakeups; heard: (readonly string[] | null)[] }> {
    const { wakeups } = fixture.reopen({ logger: { info: () => {}, warn: () => {}, error: () => {} } }).store.engine;
    const heard: (readonly string[] | null)[] = [];
    subscriptions.push(wakeups.subscribe((namespaces) => heard.push(namespaces)));
    await waitUntil("it listens", () => wakeups.connected);
    return { wakeups, heard };
  }
  const listeningSessions = async () => {
    const result = await fixture.observer?.query(
      "select pid from pg_stat_activity where datname = current_database() and query ilike 'listen %'",
    );
    return result?.rows.map(({ pid }) => Number(pid)) ?? [];
  };

  test("tell a new listener to look everywhere, and then what was announced", async () => {
    const { heard } = await listen();
    expect(heard).toEqual([null]);
    fixture.store.engine.wakeups.announce("orders");
    await waitUntil("it is told", () => heard.length > 1);

    expect(heard).toEqual([null, ["orders"]]);
  });

  test("lose no announcement when there are many at once", async () => {
    const { heard } = await listen();
    const names = Array.from({ length: 50 }, (_, index) => `namespace-${index}`);
    for (const name of names) fixture.store.engine.wakeups.announce(name);
    await waitUntil("all are told", () => new Set(heard.flat()).size === names.length + 1);

    expect(new Set(heard.slice(1).flat())).toEqual(new Set(names));
    expect(heard.length).toBeLessThan(names.length);
  });

  test("tell all processes to look in all namespaces when a list is too long", async () => {
    const { heard } = await listen();
    const { wakeups } = fixture.store.engine;
    wakeups.announce("first");
    for (let index = 0; index < 1000; index++) wakeups.announce(`namespace-${index}`);

    await waitUntil("it is told", () => heard.filter((names) => names === null).length === 2);
  });

  test("take what they don't understand as a call to look everywhere", async () => {
    const { heard } = await listen();
    await fixture.observer?.query("select pg_notify('perdure_perdure', 'nonsense'), pg_notify('other', '[\"x\"]')");

    await waitUntil("it is told", () => heard.length > 1);
    expect(heard).toEqual([null, null]);
  });

  test("listen again after their connection was cut, and look everywhere for what they missed", async () => {
    const { wakeups, heard } = await listen();
    const [pid] = await listeningSessions();
    await fixture.observer?.query("select pg_terminate_backend($1)", [pid]);
    await waitUntil("it has listened again", () => heard.length > 1 && wakeups.connected);
    expect(heard).toEqual([null, null]);
    fixture.store.engine.wakeups.announce("orders");

    await waitUntil("it is told", () => heard.length > 2);
    expect(heard.at(-1)).toEqual(["orders"]);
  });

  test("give their connection back when the last listener has gone", async () => {
    const { wakeups } = await listen();
    for (const unsubscribe of subscriptions.splice(0)) unsubscribe();

    expect(wakeups.connected).toBe(false);
    await waitUntil("the session is gone", async () => (await listeningSessions()).length === 0);
  });

  test("never throw, whatever the state of the database", async () => {
    const { store } = fixture.reopen({ logger: { info: () => {}, warn: () => {}, error: () => {} } });
    await store.close();

    expect(() => store.engine.wakeups.announce("orders")).not.toThrow();
  });
});
