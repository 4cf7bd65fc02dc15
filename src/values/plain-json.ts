import { MAX_LEVELS, TAG } from "./tags.ts";

/**
 * Whether JSON.stringify alone stores the value truthfully. It is the common case, so this tracks no path and has no message:
 * the writer inspects other values again, and explains what is wrong.
 *
 * `maxBytes` bounds the walk, because an object that is referred to many times is walked many times.
 */
export function isPlainJson(value: unknown, maxBytes: number): boolean {
  if ("toJSON" in Array.prototype) return false; // a polyfill would change the output of JSON.stringify
  return new PlainWalk(maxBytes).isPlain(value);
}

class PlainWalk {
  readonly #ancestors: object[] = [];
  /** Each container is at least the two bytes of its brackets. */
  #containersLeft: number;

  constructor(maxBytes: number) {
    this.#containersLeft = maxBytes / 2;
  }

  isPlain(value: unknown): boolean {
    switch (typeof value) {
      case "string":
      case "boolean":
        return true;
      case "number":
        return isPlainNumber(value);
      case "object":
        return value === null || this.#isPlainContainer(value);
      default:
        return false;
    }
  }

  #isPlainContainer(container: object): boolean {
    const ancestors = this.#ancestors;
    this.#containersLeft -= 1;
    if (this.#containersLeft < 0 || ancestors.length === MAX_LEVELS || ancestors.includes(container)) return false;
    ancestors.push(container);
    const prototype: unknown = Object.getPrototypeOf(container);
    const plain =
      prototype === Array.prototype && Array.isArray(container)
        ? this.#hasPlainElements(container)
        : (prototype === Object.prototype || prototype === null) &&
          this.#hasPlainProperties(container as Record<string, unknown>);
    ancestors.pop();
    return plain;
  }

  #hasPlainElements(array: readonly unknown[]): boolean {
    for (let index = 0; index < array.length; index += 1) if (!this.isPlain(array[index])) return false;
    return true;
  }

  #hasPlainProperties(object: Record<string, unknown>): boolean {
    for (const key of Object.keys(object)) if (key === TAG || !this.isPlain(object[key])) return false;
    return true;
  }
}

/** Finite, and not -0. */
function isPlainNumber(value: number): boolean {
  return value - value === 0 && (value !== 0 || 1 / value > 0);
}
