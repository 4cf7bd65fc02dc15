import type { Program } from "../program.ts";
import { SPECIAL, show, special } from "../show.ts";
import { caught, once } from "./support.ts";

/** What is stored, and how it comes back. */
export const VALUES: readonly Program[] = [
  {
    name: "params that aren't JSON",
    run: async (_step, event) => show(event.payload["value"]),
    drive: async (driver) => ({ ended: await (await driver.create({ params: { value: SPECIAL } })).ended() }),
  },
  {
    name: "an output that isn't JSON",
    run: async () => special(),
  },
  {
    name: "results of every kind, again after a wait",
    run: async (step, _event, { gate }) => {
      const values: unknown[] = [];
      for (const [index, value] of [null, 0, "", false, [], {}, Number.MAX_SAFE_INTEGER, "\u{1f600}"].entries())
        values.push(await step.do(`value ${index}`, async () => value));
      await step.do("gate", async () => gate("end"));
      return values.map(show);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.open("end");
      return { ended: await instance.ended() };
    },
  },
  {
    name: "a result of half a mebibyte",
    run: async (step) => {
      const text = await step.do("large", async () => "x".repeat(512 * 1024));
      return text.length;
    },
    drive: async (driver) => {
      const { status, output } = await (await driver.create()).ended();
      return { status, output };
    },
  },
  {
    name: "a result that is too large fails its step",
    run: async (step) => {
      const result = await caught(step.do("too large", once, async () => "x".repeat(5 * 1024 * 1024)));
      return "value" in (result as object);
    },
  },
  {
    name: "a shared object is one object",
    run: async (step) => {
      const shared = { n: 1 };
      const { left, right } = await step.do("shared", async () => ({ left: shared, right: shared }));
      return left === right;
    },
  },
  {
    name: "an object with a circle",
    run: async (step) => {
      const result = await caught(
        step.do("circle", once, async () => {
          const circle: { self?: unknown } = {};
          circle.self = circle;
          return circle;
        }),
      );
      const { value } = result as { value?: { self?: unknown } };
      return { came: value !== undefined, closed: value !== undefined && value.self === value };
    },
  },
  {
    name: "an instance of a class",
    run: async (step) => {
      class Point {
        x = 1;
      }
      const result = await caught(step.do("point", once, async () => new Point()));
      return "value" in (result as object);
    },
  },
  {
    name: "a step that gives a promise in an object",
    run: async (step) => {
      const result = await caught(step.do("promise", once, async () => ({ later: Promise.resolve(1) })));
      return "value" in (result as object);
    },
  },
];
