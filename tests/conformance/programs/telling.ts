import type { Driver } from "../driver.ts";
import type { Program } from "../program.ts";
import { once } from "./support.ts";

/**
 * Without times and ids, and without what only one engine tells: the configuration of a step there, the run here. The name of a
 * step has its count in it there, and beside it here.
 */
function plain({ type, stepName, count, attempt, error, output, eventType, retryDelayMs }: Told): object {
  const step = count === undefined ? stepName : `${stepName}-${count}`;
  return { type, step, attempt, error, output, eventType, retried: retryDelayMs !== undefined };
}

type Told = Record<string, unknown>;

async function told(driver: Driver): Promise<object> {
  const instance = await driver.create();
  await instance.ended();
  return { events: (await instance.events()).map(plain) };
}

/** What `subscribe` tells. */
export const TELLING: readonly Program[] = [
  {
    name: "what is told of steps",
    run: async (step) => {
      await step.do("good", async () => ({ n: 1 }));
      await step
        .do("bad", once, async () => {
          throw new RangeError("bad");
        })
        .catch(() => {});
      await step.do("shaky", { retries: { limit: 1, delay: 5, backoff: "constant" } }, async ({ attempt }) => {
        if (attempt === 1) throw new Error("again");
      });
      return "end";
    },
    drive: told,
  },
  {
    name: "what is told of sleeps",
    run: async (step) => {
      await step.sleep("nap", 20);
      return "end";
    },
    drive: told,
  },
  {
    name: "what is told of an instance that fails",
    run: async () => {
      throw new TypeError("broken");
    },
    drive: told,
  },
  {
    name: "what is told of a wait that is over",
    run: async (step) => {
      await step.waitForEvent("never", { type: "never", timeout: 1000 }).catch(() => {});
    },
    drive: told,
  },
  {
    name: "what is told of rollbacks",
    run: async (step) => {
      await step.do("good", async () => 1, { rollback: async () => {} });
      throw new Error("broken");
    },
    drive: told,
  },
  {
    name: "what is told after an event, and of some types only",
    run: async (step) => {
      for (const name of ["one", "two", "three"]) await step.do(name, async () => name);
      return "end";
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.ended();
      const filter = ["step_completed"];
      const all = await instance.events({ filter });
      const rest = await instance.events({ filter, cursor: all[0]?.["eventId"] });
      return { all: all.map(plain), rest: rest.map(plain) };
    },
  },
];
