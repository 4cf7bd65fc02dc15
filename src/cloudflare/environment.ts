import { createAsyncContext } from "../async-context.ts";

type Env = Record<string, unknown>;

/**
 * Null where the runtime can't tell which code reads it: then `withEnv` applies to all code until its function has returned.
 */
const present = createAsyncContext<Env>();
let shared: Env = {};

/** Sets what `env` gives to code that imports it, as `perdure({ env })` does for `this.env`. */
export function setEnv(value: Env): void {
  shared = value;
}

/** Calls a function with another `env`. */
export function withEnv<Result>(value: Env, body: () => Result): Result {
  if (present !== null) return present.run(value, body);
  const before = shared;
  shared = value;
  try {
    return body();
  } finally {
    shared = before;
  }
}

const current = (): Env => present?.get() ?? shared;

/** As Cloudflare's module exports it; see `setEnv`. */
export const env: Readonly<Env> = new Proxy<Env>(
  {},
  {
    get: (_target, name) => Reflect.get(current(), name),
    has: (_target, name) => Reflect.has(current(), name),
    ownKeys: () => Reflect.ownKeys(current()),
    getOwnPropertyDescriptor: (_target, name) => {
      const found = Reflect.getOwnPropertyDescriptor(current(), name);
      return found === undefined ? undefined : { ...found, configurable: true };
    },
    set: () => false,
  },
);

/** On Cloudflare it keeps a Worker alive, which isn't needed here. A rejection is ignored. */
export function waitUntil(promise: Promise<unknown>): void {
  Promise.resolve(promise).catch(() => {});
}
