import { createAsyncContext } from "../async-context.ts";
import { consoleLogger } from "../logger.ts";
import { presentEnv, presentRun } from "../workflows/present-env.ts";

type Env = Record<string, unknown>;

interface GivenEnv {
  readonly env: Env;
  /** An instance that is created inside of `withEnv` has an env of its own, wherever it continues. */
  readonly run: object | undefined;
}

/**
 * Null where the runtime can't tell which code reads it: then `withEnv` applies to all code until its function has returned.
 */
const present = createAsyncContext<GivenEnv>();
let shared: Env | undefined;

/**
 * Sets what `env` gives to code that imports it. Without it, code of a workflow's class gets what is `this.env` there, and code
 * of a Worker's `fetch` what that gets.
 */
export function setEnv(value: Env): void {
  shared = value;
}

/** Calls a function with another `env`. */
export function withEnv<Result>(value: Env, body: () => Result): Result {
  if (present !== null) return present.run({ env: value, run: presentRun() }, body);
  const before = shared;
  shared = value;
  try {
    return body();
  } finally {
    shared = before;
  }
}

function current(): Env {
  const given = present?.get();
  if (given !== undefined && given.run === presentRun()) return given.env;
  return shared ?? (presentEnv() as Env | undefined) ?? {};
}

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

/** On Cloudflare it keeps a Worker alive, which isn't needed here. A rejection is logged. */
export function waitUntil(promise: Promise<unknown>): void {
  Promise.resolve(promise).catch((error: unknown) => {
    consoleLogger.error("A promise that was given to waitUntil was rejected.", { error });
  });
}
