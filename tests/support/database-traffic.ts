import { Client, Pool } from "pg";

/** A statement that takes longer waits for a lock: a test that needs one goes on. */
const PATIENCE_MS = 10_000;

const underWay = new Set<Promise<unknown>>();

for (const prototype of [Client.prototype, Pool.prototype]) {
  watch(prototype, "query");
  watch(prototype, "connect");
}

/** Waits until PostgreSQL has answered everything. Tells whether there was something to wait for. */
export async function databaseAtRest(): Promise<boolean> {
  if (underWay.size === 0) return false;
  const { promise: tooLate, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), PATIENCE_MS);
  const answered = Promise.allSettled([...underWay]).then(() => true);
  return Promise.race([answered, tooLate]).finally(() => clearTimeout(timer));
}

/** Remembers what was asked of every client or pool of this process, until it is answered. */
function watch(prototype: Client | Pool, method: "query" | "connect"): void {
  const ask = prototype[method] as (...parameters: unknown[]) => unknown;
  Object.assign(prototype, {
    [method](this: unknown, ...parameters: unknown[]): unknown {
      const callback = parameters.at(-1);
      if (typeof callback === "function")
        return ask.apply(this, [...parameters.slice(0, -1), remember(callback as Callback)]);
      const answer = ask.apply(this, parameters);
      if (!(answer instanceof Promise)) return answer;
      underWay.add(answer);
      const forget = () => void underWay.delete(answer);
      answer.then(forget, forget);
      return answer;
    },
  });
}

type Callback = (...answer: unknown[]) => unknown;

function remember(callback: Callback): Callback {
  const { promise, resolve } = Promise.withResolvers<void>();
  underWay.add(promise);
  return (...answer) => {
    underWay.delete(promise);
    resolve();
    return callback(...answer);
  };
}
