import type { Program } from "../program.ts";
import { show } from "../show.ts";
import { caught, once, quickly, tooLong } from "./support.ts";

/** How things fail, and what steps may be configured with. */
export const ERRORS: readonly Program[] = [
  {
    name: "an error of a class of its own",
    run: async (step) => {
      class DeclinedError extends Error {
        override name = "DeclinedError";
      }
      return caught(
        step.do("declined", once, async () => {
          throw new DeclinedError("no funds");
        }),
      );
    },
  },
  {
    name: "an error that is thrown on, after a step caught it",
    run: async (step) => {
      try {
        await step.do("bad", once, async () => {
          throw new Error("first");
        });
      } catch (error) {
        throw new RangeError(`then ${(error as Error).message}`);
      }
    },
  },
  {
    name: "a text is thrown by a step",
    run: async (step) => {
      try {
        await step.do("text", once, async () => {
          throw "only text";
        });
        return "nothing";
      } catch (error) {
        return show(error);
      }
    },
  },
  {
    name: "a text is thrown outside steps",
    run: async () => {
      throw "only text";
    },
  },
  {
    name: "a non-retryable error that the code doesn't catch",
    run: async (step, _event, { NonRetryableError }) =>
      step.do("refused", quickly, async () => {
        throw new NonRetryableError("never again");
      }),
  },
  {
    name: "a non-retryable error outside steps",
    run: async (_step, _event, { NonRetryableError }) => {
      throw new NonRetryableError("never again");
    },
  },
  {
    name: "how a step that takes too long fails",
    run: async (step) => caught(step.do("slow", { ...once, timeout: 200 }, tooLong)),
  },
  {
    name: "a step that takes too long, and the code doesn't catch it",
    run: async (step) => {
      await step.do("slow", { ...once, timeout: "0.2 seconds" }, tooLong);
    },
  },
  {
    name: "the configuration that a step is told, by default",
    run: async (step) => step.do("plain", async (ctx) => ({ keys: Object.keys(ctx).toSorted(), config: ctx.config })),
  },
  {
    name: "the configuration that a step is told, in part",
    run: async (step) => ({
      timeout: await step.do("timeout", { timeout: "30 seconds" }, async ({ config }) => config),
      retries: await step.do("retries", { retries: { limit: 1, delay: "2 seconds" } }, async ({ config }) => config),
      whole: await step.do(
        "whole",
        { retries: { limit: 3, delay: 10, backoff: "linear" }, timeout: 60_000 },
        async ({ config }) => config,
      ),
    }),
  },
  {
    name: "a delay that is a function",
    run: async (step) => {
      const asked: unknown[] = [];
      const delay = async ({ ctx, error }: { ctx: { attempt: number }; error: Error }) => {
        asked.push([ctx.attempt, error.message]);
        return 1;
      };
      const attempt = await step.do("shaky", { retries: { limit: 3, delay } }, async (ctx) => {
        if (ctx.attempt < 3) throw new Error(`attempt ${ctx.attempt}`);
        return ctx.attempt;
      });
      return { attempt, asked };
    },
  },
  {
    name: "retries without end",
    run: async (step) =>
      step.do(
        "stubborn",
        { retries: { limit: Number.POSITIVE_INFINITY, delay: 1, backoff: "constant" } },
        async (ctx) => {
          if (ctx.attempt < 10) throw new Error("again");
          return ctx.attempt;
        },
      ),
  },
  ...(
    [
      ["a limit below none", { retries: { limit: -1, delay: 1 } }],
      ["a delay that is no duration", { retries: { limit: 1, delay: "soon" } }],
      ["a backoff that isn't there", { retries: { limit: 1, delay: 1, backoff: "quadratic" } }],
      ["a timeout that is no duration", { timeout: "soon" }],
      ["a field that isn't there", { retry: 1 }],
      ["no delay", { retries: { limit: 1 } }],
    ] as const
  ).map(
    ([what, config]): Program => ({
      name: `a step's configuration is refused: ${what}`,
      run: async (step, _event, { note }) => {
        const result = await caught(step.do("configured", config, async () => note("ran")));
        return "value" in (result as object);
      },
      drive: async (driver) => {
        const instance = await driver.create();
        const { status, output } = await instance.ended();
        return { status, output, notes: await instance.notes() };
      },
    }),
  ),
  {
    name: "a name of a step that is too long",
    run: async (step) => {
      const result = await caught(step.do("x".repeat(257), async () => 1));
      return "value" in (result as object);
    },
  },
  {
    name: "sleeping until a time that is over",
    run: async (step) => {
      const result = await caught(step.sleepUntil("past", Date.now() - 60_000));
      return "value" in (result as object);
    },
  },
  {
    name: "a duration that is none",
    run: async (step) => {
      const result = await caught(step.sleep("never", "some time"));
      return "value" in (result as object);
    },
  },
  {
    name: "steps of one name at once",
    run: async (step) =>
      Promise.all([1, 2, 3].map((n) => step.do("same", async ({ step: { count } }) => ({ n, count })))),
  },
  {
    name: "one name for steps of every kind",
    events: [{ type: "same", payload: "event" }],
    run: async (step) => {
      const result = await step.do("same", async () => "step");
      await step.sleep("same", 10);
      const { payload } = await step.waitForEvent("same", { type: "same", timeout: "1 hour" });
      return [result, payload, await step.do("same", async ({ step: { count } }) => count)];
    },
  },
  {
    name: "a step that is never waited for",
    run: async (step, _event, { note, gate }) => {
      void step.do("left", async () => {
        note("left");
        await gate("left");
      });
      await step.do("other", async () => gate("other"));
      return "end";
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("left");
      await instance.open("other");
      const { status, output } = await instance.ended();
      return { status, output };
    },
  },
];
