import { NonRetryableError } from "../../../src/index.ts";
import { passTurns } from "./notes.ts";
import type { Program } from "./replays.ts";

const forever = () => new Promise<never>(() => {});

/** Every way to put steps together. */
export const PROGRAMS: readonly Program[] = [
  {
    title: "steps one after the other",
    run: async (step, notes) => {
      const first = await step.do("first", notes.body("first", 1));
      const second = await step.do("second", notes.body("second", first + 1));
      return step.do("third", notes.body("third", [first, second]));
    },
  },
  {
    title: "steps at once that end in another order",
    run: async (step, notes) => {
      const seen = (line: string) => notes.note(line);
      const results = await Promise.all([
        step.do("slow", notes.body("slow", "s", 60)).finally(() => seen("slow")),
        step.do("middle", notes.body("middle", "m", 30)).finally(() => seen("middle")),
        step.do("fast", notes.body("fast", "f")).finally(() => seen("fast")),
      ]);
      return step.do("last", notes.body("last", results.join("")));
    },
  },
  {
    title: "chains of steps side by side",
    run: async (step, notes) => {
      const chain = async (name: string, turns: number) => {
        let sum = 0;
        for (const part of [1, 2, 3]) {
          sum += await step.do(`${name}${part}`, notes.body(`${name}${part}`, part, turns));
          notes.note(`${name}${part}`);
        }
        return sum;
      };
      return Promise.all([chain("a", 7), chain("b", 0), chain("c", 15)]);
    },
  },
  {
    title: "a settled set in which one fails",
    run: async (step, notes) => {
      const settled = await Promise.allSettled([
        step.do("good", notes.body("good", 1, 20)),
        step.do("bad", () => {
          throw new NonRetryableError("no", "Refused");
        }),
        step.do("better", notes.body("better", 2)),
      ]);
      const words = settled.map((one) => (one.status === "fulfilled" ? one.value : (one.reason as Error).name));
      return step.do("sum", notes.body("sum", words));
    },
  },
  {
    title: "a race whose loser never ends",
    run: async (step, notes) => {
      const winner = await Promise.race([step.do("stuck", forever), step.do("quick", notes.body("quick", "quick", 3))]);
      return step.do("after", notes.body("after", winner));
    },
  },
  {
    title: "a race whose loser is awaited later",
    timed: true,
    run: async (step, notes) => {
      const one = step.do("one", notes.body("one", "one", 25));
      const two = step.do("two", notes.body("two", "two", 5));
      const winner = await Promise.race([one, two]);
      notes.note(`won: ${winner}`);
      const between = await step.do("between", notes.body("between", winner, 40));
      notes.note(`then: ${await one} ${await two}`);
      return step.do("after", notes.body("after", between));
    },
  },
  {
    title: "the first of several to succeed",
    run: async (step, notes) => {
      const any = await Promise.any([
        step.do("refused", () => {
          throw new NonRetryableError("no");
        }),
        step.do("accepted", notes.body("accepted", "yes", 10)),
      ]);
      return step.do("after", notes.body("after", any));
    },
  },
  {
    title: "steps inside steps",
    run: async (step, notes) => {
      const outer = await step.do("outer", async (ctx) => {
        notes.began("outer", ctx);
        const inner = await step.do("inner", notes.body("inner", 1, 3));
        const deeper = await step.do("deep", async (nested) => {
          notes.began("deep", nested);
          return step.do("deepest", notes.body("deepest", inner + 1));
        });
        return deeper + 1;
      });
      return step.do("after", notes.body("after", outer));
    },
  },
  {
    title: "one name in a loop",
    run: async (step, notes) => {
      const all: number[] = [];
      for (let round = 1; round <= 4; round++) {
        all.push(await step.do("turn", notes.body("turn", round)));
      }
      return all;
    },
  },
  {
    title: "one name in loops side by side",
    run: async (step, notes) => {
      const results: string[] = [];
      const loop = async (name: string, turns: number) => {
        for (let round = 1; round <= 3; round++) {
          results.push(
            await step.do("work", async (ctx) => {
              notes.began("work", ctx);
              await passTurns(turns);
              return `${name}${round} as ${ctx.step.count}`;
            }),
          );
          notes.note(results.at(-1) as string);
        }
      };
      await Promise.all([loop("a", 0), loop("b", 9)]);
      return results.length;
    },
  },
  {
    title: "sleeps, held and parked, between steps",
    run: async (step, notes) => {
      await step.do("before", notes.body("before", 0));
      await step.sleep("a moment", "2 seconds");
      await step.do("between", notes.body("between", 0));
      await step.sleep("long", "30 seconds");
      notes.note("slept");
      return step.do("after", notes.body("after", "rested"));
    },
  },
  {
    title: "sleeps side by side with steps after each",
    run: async (step, notes) => {
      const nap = async (name: string, length: number) => {
        await step.sleep(`sleep ${name}`, length);
        notes.note(name);
        return step.do(name, notes.body(name, name));
      };
      return Promise.all([nap("third", 60_000), nap("first", 3000), nap("second", 20_000)]);
    },
  },
  {
    title: "a race between a sleep and an event",
    timed: true,
    events: [{ type: "go", payload: "went" }],
    run: async (step, notes) => {
      await step.do("before", notes.body("before", 0));
      const first = await Promise.race([
        step.waitForEvent("wait", { type: "go" }).then(({ payload }) => String(payload)),
        step.sleep("deadline", "1 hour").then(() => "late"),
      ]);
      notes.note(first);
      return step.do("after", notes.body("after", first));
    },
  },
  {
    title: "events in a loop",
    events: ["one", "two", "three"].map((payload) => ({ type: "word", payload })),
    run: async (step, notes) => {
      const words: string[] = [];
      for (let round = 0; round < 3; round++) {
        const word = await step.waitForEvent("word", { type: "word" });
        const payload = String(word.payload);
        words.push(payload);
        notes.note(payload);
        await step.do(`keep ${payload}`, notes.body(`keep ${payload}`, payload));
      }
      return words;
    },
  },
  {
    title: "several that wait for events of one type",
    events: [1, 2, 3].map((payload) => ({ type: "ticket", payload })),
    run: async (step, notes) => {
      const take = async (name: string) => {
        const { payload } = await step.waitForEvent<number>(name, { type: "ticket" });
        notes.note(`${name} ${payload}`);
        return step.do(`use ${name}`, notes.body(`use ${name}`, payload));
      };
      return Promise.all([take("a"), take("b"), take("c")]);
    },
  },
  {
    title: "an event that doesn't come",
    run: async (step, notes) => {
      const missed = await step
        .waitForEvent("wait", { type: "never", timeout: "20 seconds" })
        .catch((error) => error.name);
      notes.note(missed);
      return step.do("after", notes.body("after", missed));
    },
  },
  {
    title: "a step that succeeds at a later attempt",
    run: async (step, notes) => {
      const attempt = (ctx: { attempt: number }) => {
        if (ctx.attempt < 3) throw new Error(`attempt ${ctx.attempt}`);
        return "in the end";
      };
      const [tried, other] = await Promise.all([
        step.do("shaky", { retries: { limit: 100, delay: "10 seconds", backoff: "constant" } }, attempt),
        step.do("firm", notes.body("firm", "at once")),
      ]);
      return step.do("after", notes.body("after", [tried, other]));
    },
  },
  {
    title: "a failure that is caught and made up for",
    run: async (step, notes) => {
      try {
        await step.do("charge", () => {
          throw Object.assign(new NonRetryableError("declined"), { reason: "limit" });
        });
        return "charged";
      } catch (error) {
        notes.note((error as { reason: string }).reason);
        return step.do("refund", notes.body("refund", (error as Error).message));
      }
    },
  },
  {
    title: "a rejected sibling, whose finished brother is used",
    run: async (step, notes) => {
      const kept = step.do("kept", notes.body("kept", "kept", 30));
      try {
        await Promise.all([
          kept,
          step.do("rejected", () => {
            throw new NonRetryableError("no");
          }),
        ]);
      } catch {
        notes.note("rejected");
      }
      return step.do("after", notes.body("after", await kept));
    },
  },
  {
    title: "children, whose results a step waits for",
    run: async (step, notes, { workflows, id }) => {
      const first = await step.create("child", { params: "step" });
      const others = await workflows["child"]?.createBatch([{ params: "one", id: `own-${id}` }, { params: "two" }]);
      notes.note(String(others?.length));
      // It is under way when processes are lost with its children's commits, and each of them uses up an attempt.
      const retries = { limit: 100 };
      return step.do("results", { retries }, () =>
        Promise.all([first, ...(others ?? [])].map((child) => child.result())),
      );
    },
  },
  {
    title: "promises of different depths between steps",
    run: async (step, notes) => {
      const deep = async (name: string, depth: number) => {
        const value = await step.do(name, notes.body(name, name));
        for (let level = 0; level < depth; level++) await null;
        notes.note(name);
        return step.do(`${name} again`, notes.body(`${name} again`, value));
      };
      return Promise.all([deep("a", 50), deep("b", 0), deep("c", 7)]);
    },
  },
  {
    title: "an error that the code doesn't catch",
    run: async (step, notes) => {
      await step.do("before", notes.body("before", 0));
      await step.do("fatal", () => {
        throw new NonRetryableError("the end", "Fatal");
      });
    },
  },
];
