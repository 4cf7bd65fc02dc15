/** A value that code called with it can read, also after an await. */
export interface AsyncContext<Value> {
  run<Parameters extends unknown[], Result>(
    value: Value | undefined,
    body: (...parameters: Parameters) => Result,
    ...parameters: Parameters
  ): Result;
  get(): Value | undefined;
}

interface AsyncHooks {
  readonly AsyncLocalStorage: new () => {
    run<Parameters extends unknown[], Result>(
      value: unknown,
      body: (...parameters: Parameters) => Result,
      ...parameters: Parameters
    ): Result;
    getStore(): unknown;
  };
}

/** Node, Deno, Bun and Cloudflare (with its Node compatibility) have it; there is no Web Standard for it yet. */
export function createAsyncContext<Value>(): AsyncContext<Value> | null {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const hooks = process?.getBuiltinModule?.("node:async_hooks") as AsyncHooks | undefined;
  if (hooks === undefined) return null;
  const storage = new hooks.AsyncLocalStorage();
  return {
    run: (value, body, ...parameters) => storage.run(value, body, ...parameters),
    get: () => storage.getStore() as Value | undefined,
  };
}
