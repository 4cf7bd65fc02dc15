import type { Program } from "../program.ts";
import { SPECIAL, show } from "../show.ts";
import { caught } from "./support.ts";

/** Events that are sent before, while and after the code waits for them. */
export const EVENTS: readonly Program[] = [
  {
    name: "an event while it is waited for",
    run: async (step, _event, { note }) => {
      await step.do("before", async () => note("before"));
      const event = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      return { keys: Object.keys(event).toSorted(), payload: event.payload, dated: event.timestamp instanceof Date };
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("before");
      const other = await instance.does("sendEvent", { type: "other", payload: "not for it" });
      const sent = await instance.does("sendEvent", { type: "word", payload: { deep: [1, "two"] } });
      return { other, sent, ended: await instance.ended() };
    },
  },
  {
    name: "an event without a payload",
    run: async (step) => {
      const { payload } = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      return show(payload);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      const sent = await instance.does("sendEvent", { type: "word" });
      return { sent, ended: await instance.ended() };
    },
  },
  {
    name: "an event with values that aren't JSON",
    run: async (step) => {
      const { payload } = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      return show(payload);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.does("sendEvent", { type: "word", payload: SPECIAL });
      const { status, output } = await instance.ended();
      return { status, output };
    },
  },
  {
    name: "waits of one type at once are served in the order in which they began",
    run: async (step, _event, { note }) => {
      await step.do("before", async () => note("before"));
      const waits = ["one", "two", "three"].map((name) => step.waitForEvent(name, { type: "word", timeout: "1 hour" }));
      return (await Promise.all(waits)).map(({ payload }) => payload);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("before");
      for (const payload of [1, 2, 3]) await instance.does("sendEvent", { type: "word", payload });
      return { ended: await instance.ended() };
    },
  },
  {
    name: "waits of different types at once",
    run: async (step) => {
      const [left, right] = await Promise.all([
        step.waitForEvent("left", { type: "left", timeout: "1 hour" }),
        step.waitForEvent("right", { type: "right", timeout: "1 hour" }),
      ]);
      return [left.payload, right.payload];
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.does("sendEvent", { type: "right", payload: "r" });
      await instance.does("sendEvent", { type: "left", payload: "l" });
      const { status, output } = await instance.ended();
      return { status, output };
    },
  },
  {
    name: "a wait that is over takes no event",
    run: async (step, _event, { note, gate }) => {
      const first = await caught(step.waitForEvent("first", { type: "word", timeout: 1000 }));
      note("over");
      await step.do("between", async () => gate("sent"));
      const { payload } = await step.waitForEvent("second", { type: "word", timeout: "1 hour" });
      return { came: "value" in (first as object), payload };
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("over");
      await instance.does("sendEvent", { type: "word", payload: "for the second" });
      await instance.open("sent");
      const { status, output } = await instance.ended();
      return { status, output };
    },
  },
  {
    name: "how a wait that is over fails",
    run: async (step) => caught(step.waitForEvent("never", { type: "never", timeout: "1 second" })),
  },
  {
    name: "a wait that is over, and the code doesn't catch it",
    run: async (step) => {
      await step.waitForEvent("never", { type: "never", timeout: 1000 });
    },
  },
  {
    name: "a race of a wait and a sleep",
    run: async (step) => {
      const event = step.waitForEvent("word", { type: "word", timeout: "1 hour" }).then(({ payload }) => payload);
      const winner = await Promise.race([event, step.sleep("too long", 1000).then(() => "slept")]);
      return step.do("after", async () => winner);
    },
  },
  {
    name: "waits of one name are different waits",
    events: [1, 2].map((payload) => ({ type: "word", payload })),
    run: async (step) => {
      const first = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      const second = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      return [first.payload, second.payload];
    },
  },
];
