/** What code may throw or give that can't be looked at without another throw. Each call makes a new one. */
export const HOSTILE: readonly { readonly what: string; readonly make: () => unknown }[] = [
  { what: "a revoked proxy", make: revoked },
  { what: "a revoked proxy of a function", make: () => revoked(() => {}) },
  {
    what: "a proxy whose every trap throws a revoked proxy",
    make: () => new Proxy({}, new Proxy({}, { get: () => throwRevoked }) as ProxyHandler<object>),
  },
  {
    what: "an object whose getters throw",
    make: () =>
      Object.defineProperties(
        {},
        Object.fromEntries(
          ["name", "message", "stack", "code", "cause", "retryAfter"].map((name) => [
            name,
            { enumerable: true, get: throwRevoked },
          ]),
        ),
      ),
  },
  {
    what: "an error whose message can't be read",
    make: () => Object.defineProperty(new Error("no"), "message", { get: throwRevoked }),
  },
  { what: "an object whose toString throws", make: () => ({ toString: throwRevoked, toJSON: throwRevoked }) },
  { what: "an object without a prototype", make: () => Object.create(null) },
  { what: "an object that is no text", make: () => ({ toString: 1, valueOf: 1 }) },
  { what: "a proxy that is its own prototype", make: ownPrototype },
  { what: "a symbol", make: () => Symbol("thrown") },
  { what: "undefined", make: () => undefined },
  { what: "an error that is its own cause", make: ownCause },
  { what: "an error with a thousand causes", make: manyCauses },
  { what: "an error of many megabytes", make: () => new Error("x".repeat(5_000_000)) },
];

function revoked(target: object = {}): unknown {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

function throwRevoked(): never {
  throw revoked();
}

function ownPrototype(): unknown {
  const proxy: object = new Proxy({}, { getPrototypeOf: () => proxy });
  return proxy;
}

function ownCause(): unknown {
  const error = new Error("round and round");
  error.cause = error;
  return error;
}

function manyCauses(): unknown {
  let error = new Error("the first");
  for (let count = 1; count < 1000; count++) error = new Error(`${count}`, { cause: error });
  return error;
}
