const BOUND = Symbol("bound methods");

interface Owner {
  [BOUND]?: Record<string, unknown>;
}

type Method = (this: Owner, ...parameters: never[]) => unknown;

/**
 * Lets the methods of a class be taken off their object, as `const { do: perform } = step`. A method is bound when it is first
 * used: binding all of them would cost each object more than most of its calls.
 */
export function makeDetachable({ prototype }: { readonly prototype: object }): void {
  for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
    if (name === "constructor" || typeof value !== "function") continue;
    Object.defineProperty(prototype, name, {
      get(this: Owner) {
        this[BOUND] ??= {};
        this[BOUND][name] ??= (value as Method).bind(this);
        return this[BOUND][name];
      },
    });
  }
}
