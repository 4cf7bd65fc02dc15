import { defineHook, type HookDefinition } from "../../../src/hooks/define-hook.ts";
import type { HookContext } from "../../../src/hooks/hook-context.ts";
import type { RetryOptions } from "../../../src/queue/retry-policy.ts";

export interface Call<Payload> {
  readonly payload: Payload;
  readonly hook: HookContext;
}

/** A hook that remembers how it was called. What it does otherwise is up to the test. */
export interface RecordedHook<Payload> {
  readonly definition: HookDefinition<Payload, Payload>;
  readonly calls: Call<Payload>[];
  readonly payloads: Payload[];
}

export function recordCalls<Payload>(
  behaviour: (payload: Payload, hook: HookContext) => unknown = () => {},
  options: { readonly retries?: RetryOptions } = {},
): RecordedHook<Payload> {
  const calls: Call<Payload>[] = [];
  const payloads: Payload[] = [];
  const definition = defineHook(options, (payload: Payload, hook) => {
    calls.push({ payload, hook });
    payloads.push(payload);
    return behaviour(payload, hook);
  });
  return { definition, calls, payloads };
}

/** A door that handlers wait at until a test opens it. */
export class Gate {
  readonly #opening = Promise.withResolvers<void>();
  readonly opened: Promise<void> = this.#opening.promise;

  open(): void {
    this.#opening.resolve();
  }
}

/** What a handler awaits that never ends by itself. */
export function forever(): Promise<never> {
  return new Promise(() => {});
}
