import type { Program } from "../program.ts";
import { caught, once, quickly, tooLong } from "./support.ts";

const after = async <Value>(turns: number, value: Value): Promise<Value> => {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
  return value;
};

/** Small workflows, each for one rule of the interface. What they come to must not depend on speed. */
export const STEPS: readonly Program[] = [
  {
    name: "steps one after the other",
    run: async (step) => {
      const first = await step.do("first", async () => 1);
      const second = await step.do("second", async () => first + 1);
      return [first, second, await step.do("third", async () => [first, second])];
    },
  },
  {
    name: "methods that are taken off the step",
    run: async ({ do: perform, sleep, waitForEvent }) => {
      const first = await perform("first", async () => 1);
      await sleep("briefly", 10);
      const late = await caught(waitForEvent("event", { type: "never", timeout: "1 second" }));
      return [first, await perform("second", async () => 2), "message" in (late as object)];
    },
  },
  { name: "nothing is given back", run: async (step) => void (await step.do("nothing", async () => undefined)) },
  {
    name: "steps at once keep their places",
    run: async (step) =>
      Promise.all(["a", "b", "c"].map((name, index) => step.do(name, async () => after(3 - index, name)))),
  },
  {
    name: "a settled set",
    run: async (step) => {
      const settled = await Promise.allSettled([
        step.do("good", async () => 1),
        step.do("bad", once, async () => {
          throw new Error("bad");
        }),
      ]);
      return settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).message));
    },
  },
  {
    name: "a rejected sibling stops no other step",
    run: async (step) => {
      const sibling = step.do("sibling", async () => after(5, "done"));
      const all = await caught(
        Promise.all([
          sibling,
          step.do("bad", once, async () => {
            throw new Error("bad");
          }),
        ]),
      );
      return [all, await sibling];
    },
  },
  {
    name: "the first of several",
    run: async (step) => {
      const winner = await Promise.any([
        step.do("bad", once, async () => {
          throw new Error("bad");
        }),
        step.do("good", async () => "good"),
      ]);
      return step.do("after", async () => `${winner} won`);
    },
  },
  {
    name: "one name in a loop",
    run: async (step) => {
      const all: unknown[] = [];
      for (let round = 1; round <= 3; round++) {
        all.push(await step.do("turn", async ({ step: { name, count } }) => ({ name, count, round })));
      }
      return all;
    },
  },
  {
    name: "the context of a step",
    run: async (step) =>
      step.do("shown", quickly, async (ctx) => ({ step: ctx.step, attempt: ctx.attempt, keys: "config" in ctx })),
  },
  {
    name: "sleeps take their time, and give nothing",
    run: async (step) => {
      const before = Date.now();
      const given = await step.sleep("nap", "1 second");
      await step.sleepUntil("until", Date.now() + 2000); // there a time that is over is an error
      return { given: given === undefined, slept: Date.now() - before >= 1000 };
    },
  },
  {
    name: "values come back as they were",
    run: async (step) => {
      const value = await step.do("values", async () => ({
        date: new Date(5),
        map: new Map([["a", { deep: new Set([1, 2]) }]]),
        big: 2n ** 70n,
        pattern: /a+/gi,
        bytes: new Uint8Array([1, 2, 3]),
        missing: undefined,
        zero: -0,
        number: Number.NaN,
        text: "a\u0000b",
      }));
      return {
        date: value.date instanceof Date && value.date.getTime(),
        map: value.map instanceof Map && [...(value.map.get("a")?.deep ?? [])],
        big: String(value.big),
        pattern: String(value.pattern),
        bytes: value.bytes instanceof Uint8Array && [...value.bytes],
        missing: "missing" in value && value.missing === undefined,
        zero: Object.is(value.zero, -0),
        number: Number.isNaN(value.number),
        text: value.text,
      };
    },
  },
  {
    name: "a result is a copy",
    run: async (step) => {
      const original = { list: [1] };
      const given = await step.do("copy", async () => original);
      original.list.push(2);
      return { same: given === original, list: given.list };
    },
  },
  {
    name: "a step is tried again, and told which attempt it is",
    run: async (step) => {
      const attempts: number[] = [];
      const result = await step.do("shaky", quickly, async ({ attempt }) => {
        attempts.push(attempt);
        if (attempt < 3) throw new Error(`attempt ${attempt}`);
        return "in the end";
      });
      return { result, attempts };
    },
  },
  {
    name: "a step that has no attempts left throws what the last one threw",
    run: async (step) =>
      caught(
        step.do("hopeless", quickly, async ({ attempt }) => {
          throw new RangeError(`attempt ${attempt}`);
        }),
      ),
  },
  {
    name: "an error that the code doesn't catch ends the instance",
    run: async (step) =>
      step.do("bad", once, async () => {
        throw new TypeError("nobody catches me");
      }),
  },
  {
    name: "an error outside steps ends the instance",
    run: async (step) => {
      await step.do("good", async () => 1);
      throw new RangeError("outside");
    },
  },
  {
    name: "a non-retryable error is tried once",
    run: async (step, _event, { NonRetryableError }) => {
      let attempts = 0;
      const failure = await caught(
        step.do("refused", quickly, async () => {
          attempts++;
          throw new NonRetryableError("never again");
        }),
      );
      return { failure, attempts };
    },
  },
  {
    name: "a non-retryable error with a name of its own is tried once",
    run: async (step, _event, { NonRetryableError }) => {
      let attempts = 0;
      await caught(
        step.do("refused", quickly, async () => {
          attempts++;
          throw new NonRetryableError("never again", "Declined");
        }),
      );
      return attempts;
    },
  },
  {
    name: "a timeout fails the attempt, and the next one counts",
    run: async (step) =>
      step.do("slow", { ...quickly, timeout: 300 }, async ({ attempt }) => {
        if (attempt === 1) await tooLong();
        return attempt;
      }),
  },
  {
    name: "an event that was sent before it is waited for",
    events: [{ type: "early", payload: { n: 1 } }],
    run: async (step) => {
      await step.sleep("wait", 500);
      const { payload, type } = await step.waitForEvent("early", { type: "early", timeout: "10 seconds" });
      return { payload, type };
    },
  },
  {
    name: "events of a type come first in, first out",
    events: [1, 2, 3].map((payload) => ({ type: "word", payload })),
    run: async (step) => {
      const all: unknown[] = [];
      for (let round = 0; round < 3; round++) {
        all.push((await step.waitForEvent(`word ${round}`, { type: "word", timeout: "10 seconds" })).payload);
      }
      return all;
    },
  },
  {
    name: "an event that doesn't come throws",
    run: async (step) => {
      try {
        await step.waitForEvent("never", { type: "never", timeout: 1000 });
        return "came";
      } catch (error) {
        return error instanceof Error;
      }
    },
  },
  {
    name: "what can't be stored fails its step",
    run: async (step) => {
      try {
        await step.do("function", once, async () => ({ call: () => 1 }));
        return "stored";
      } catch (error) {
        return error instanceof Error;
      }
    },
  },
  {
    name: "steps inside steps",
    run: async (step) =>
      step.do("outer", async () => {
        const inner = await step.do("inner", async () => 1);
        return inner + 1;
      }),
  },
  {
    name: "what it is begun with",
    run: async (_step, event) => ({
      program: event.payload.program,
      timestamp: event.timestamp instanceof Date,
      id: typeof event.instanceId === "string",
    }),
  },
  {
    name: "an output of values that aren't JSON",
    run: async () => ({ when: new Date(7).toISOString(), list: [1, null, "two"] }),
  },
];
