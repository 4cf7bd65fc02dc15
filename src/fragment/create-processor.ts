import { InvalidInputError } from "../errors.ts";
import { HookSource } from "../hooks/hook-source.ts";
import type { RegisteredHooks } from "../hooks/registered-hooks.ts";
import { Processor } from "../queue/processor.ts";
import type { Store } from "../store/store.ts";
import { type AnyFragment, Fragment } from "./fragment.ts";

/** What a dispatcher runs. */
export type DurableHooksProcessor = Processor;

/**
 * Everything of these fragments that runs by itself, for a dispatcher; `null` if they have nothing of the kind.
 *
 * @example
 * const processor = createDurableHooksProcessor(fragment);
 * if (processor) createDurableHooksDispatcher({ processor }).startPolling();
 */
export function createDurableHooksProcessor(
  fragments: AnyFragment | readonly AnyFragment[],
): DurableHooksProcessor | null {
  const hooksOf = new Map<Store, RegisteredHooks[]>();
  for (const fragment of [fragments].flat()) {
    if (!(fragment instanceof Fragment)) {
      throw new InvalidInputError(
        "processor.invalid",
        "createDurableHooksProcessor takes a fragment, or an array of them.",
      );
    }
    const { store, hooks } = fragment.parts;
    if (hooks.names.length === 0) continue;
    const known = hooksOf.get(store) ?? [];
    if (known.some(({ namespace }) => namespace === hooks.namespace)) {
      throw new InvalidInputError("processor.invalid", `The namespace "${hooks.namespace}" is there twice.`);
    }
    hooksOf.set(store, [...known, hooks]);
  }
  if (hooksOf.size === 0) return null;
  return new Processor(Array.from(hooksOf, ([store, hooks]) => new HookSource(store, hooks)));
}
