import {
  env,
  evictDurableObject,
  type ObjectId,
  type ObjectNamespace,
  runDurableObjectAlarm,
  runInDurableObject,
} from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { calls, gates } from "./support/my-fragment.ts";
import type { MyFragmentDO } from "./support/my-fragment-do.ts";

describe("hooks in a Durable Object", () => {
  const namespace = env["SAMPLE"] as ObjectNamespace;
  let id: ObjectId;
  beforeEach(() => {
    id = namespace.newUniqueId();
  });

  /** A stub is of no use any more when its object was lost. */
  const object = () => namespace.get(id);

  const inside = <Result>(body: (instance: MyFragmentDO) => Result | Promise<Result>) =>
    runInDurableObject(object(), (instance: MyFragmentDO) => body(instance));
  const greet = (name: string, processAt?: Date) => inside(({ fragment }) => fragment.services.greet(name, processAt));
  const pending = () => inside(async ({ fragment }) => (await fragment.durableHooks.list()).hooks);
  const alarm = () => runInDurableObject(object(), (_instance, { storage }) => storage.getAlarm());
  const setAlarm = (time: number) => runInDurableObject(object(), (_instance, { storage }) => storage.setAlarm(time));
  /** It is lost without a word, and its memory with it. */
  const abortObject = () =>
    runInDurableObject(object(), (_instance, state) => (state as unknown as { abort(): void }).abort()).catch(() => {});
  const ran = () => calls.get(id.toString()) ?? [];

  test("run as soon as they are triggered, and leave no alarm behind", async () => {
    await greet("ada");

    await eventually(() => expect(ran()).toEqual(["ada"]));
    await eventually(async () => expect(await pending()).toEqual([]));
    await eventually(async () => expect(await alarm()).toBeNull());
  });

  test("run by themselves when they are due", async () => {
    await greet("ada", new Date(Date.now() + 400));

    expect(ran()).toEqual([]);
    await eventually(() => expect(ran()).toEqual(["ada"]));
    await eventually(async () => expect(await alarm()).toBeNull());
  });

  test("have an alarm for the time at which the first of them is due", async () => {
    const due = Date.now() + 3_600_000;
    await greet("later", new Date(due + 1000));
    await greet("first", new Date(due));

    const setForFirst = async () => expect(Math.abs(((await alarm()) ?? 0) - due)).toBeLessThan(500);
    await eventually(setForFirst);
    expect(await runDurableObjectAlarm(object())).toBe(true); // too early
    await eventually(setForFirst);
    expect(ran()).toEqual([]);
  });

  test("have an alarm for the end of their delay", async () => {
    const greetWhenQuiet = (name: string, hours: number) =>
      inside(({ fragment }) => fragment.services.greetWhenQuiet(name, `${hours} hours`));
    const setFor = (due: number) => async () => expect(Math.abs(((await alarm()) ?? 0) - due)).toBeLessThan(60_000);
    await greetWhenQuiet("ada", 1);
    await eventually(setFor(Date.now() + 3_600_000));
    await greetWhenQuiet("bob", 2);
    await eventually(setFor(Date.now() + 7_200_000));

    expect(await pending()).toMatchObject([{ payload: "bob" }]);
  });

  test("have an alarm while they run, so that nothing is lost with the object", async () => {
    let open = () => {};
    gates.set("slow", new Promise((resolve) => (open = resolve)));
    await greet("slow");
    await eventually(() => expect(ran()).toEqual(["slow"]));

    expect((await alarm()) ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(Date.now() + 2000);
    open();
    await eventually(async () => expect(await alarm()).toBeNull());
  });

  test("continue by themselves after the object was lost in the middle of one", async () => {
    gates.set("interrupted", new Promise(() => {}));
    await greet("interrupted");
    await eventually(() => expect(ran()).toEqual(["interrupted"]));
    gates.delete("interrupted");
    await abortObject();

    await eventually(() => expect(ran()).toEqual(["interrupted", "interrupted"]));
    await eventually(async () => expect(await pending()).toEqual([]));
  });

  test("continue by themselves after the object was evicted before they were due", async () => {
    await greet("ada", new Date(Date.now() + 700));
    await evictDurableObject(object());

    await eventually(() => expect(ran()).toEqual(["ada"]));
  });

  describe("share the alarm with their host", () => {
    test("whose earlier alarm stays where it was", async () => {
      const hosts = Date.now() + 1800;
      await setAlarm(hosts);
      await greet("ada", new Date(hosts + 3_600_000));

      await eventually(async () => expect(await pending()).toHaveLength(1));
      expect(await alarm()).toBe(hosts);
    });

    test("whose later alarm comes back after theirs", async () => {
      const hosts = Date.now() + 3_600_000;
      await setAlarm(hosts);
      await greet("ada", new Date(Date.now() + 300));
      await eventually(async () => expect(await alarm()).toBeLessThan(hosts));

      await eventually(() => expect(ran()).toEqual(["ada"]));
      await eventually(async () => expect(await alarm()).toBe(hosts));
    });

    test("whose later alarm comes back also if the object is evicted meanwhile", async () => {
      const hosts = Date.now() + 3_600_000;
      await setAlarm(hosts);
      await greet("ada", new Date(Date.now() + 500));
      await eventually(async () => expect(await alarm()).toBeLessThan(hosts));
      await evictDurableObject(object());

      await eventually(() => expect(ran()).toEqual(["ada"]));
      await eventually(async () => expect(await alarm()).toBe(hosts));
    });
  });
});
