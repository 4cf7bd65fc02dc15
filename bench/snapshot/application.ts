import { AsyncLocalStorage } from "node:async_hooks";
import { setImmediate } from "node:timers/promises";
import { defineHook, defineWorkflow, perdure } from "../../src/index.ts";
import { makePayload, type Payload } from "../hooks/payload.ts";
import { makeOrder, type Order, runOrder, STEPS } from "../workflows/order.ts";

const IN_FLIGHT = 500;
const CONCURRENCY = 1000;

/** How many hooks and workflows ran in a stretch of time. */
export interface Stretch {
  readonly count: number;
  readonly milliseconds: number;
}

/** A creating and a working application in one process: so everything goes through claims, which dead rows would slow down. */
export interface LoadedApplication extends AsyncDisposable {
  runHooks(milliseconds: number): Promise<Stretch>;
  runWorkflows(milliseconds: number): Promise<Stretch>;
}

export async function startLoadedApplication(database: string): Promise<LoadedApplication> {
  let onReturn = () => {};
  const definitions = {
    hooks: { sendMail: defineHook({}, async (_payload: Payload) => onReturn()) },
    workflows: {
      order: defineWorkflow({ name: "order" }, async (event: { payload: Order }, step) => {
        const result = await runOrder(event.payload, (name, body) => step.do(name, body as () => Promise<null>));
        onReturn();
        return result;
      }),
    },
  };
  const worker = await perdure({ database, worker: { concurrency: CONCURRENCY }, ...definitions });
  const creator = await perdure({ database, worker: false, ...definitions });

  /** Keeps as many in flight until the time is over, and waits for the last. */
  const run = async (milliseconds: number, create: (sequence: number) => Promise<unknown>): Promise<Stretch> => {
    const start = performance.now();
    let created = 0;
    let returned = 0;
    await new Promise<void>((resolve, reject) => {
      const createNext = () => void create(created++).catch(reject);
      // Not in the context of the workflow that returns: its steps would be thought to create the next one.
      onReturn = AsyncLocalStorage.bind(() => {
        returned++;
        if (performance.now() - start < milliseconds) createNext();
        else if (returned === created) resolve();
      });
      for (let index = 0; index < IN_FLIGHT; index++) createNext();
    });
    await setImmediate();
    return { count: returned, milliseconds: performance.now() - start };
  };
  return {
    runHooks: (milliseconds) => run(milliseconds, (sequence) => creator.hooks.sendMail.trigger(makePayload(sequence))),
    runWorkflows: (milliseconds) =>
      run(milliseconds, (sequence) => creator.workflows.order.create({ params: makeOrder(STEPS, sequence) })),
    async [Symbol.asyncDispose]() {
      await creator.stop();
      await worker.stop();
    },
  };
}
