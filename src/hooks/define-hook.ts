import type { StandardSchemaV1 } from "@standard-schema/spec";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { parseRetries, type RetryOptions, type RetryPolicy } from "../queue/retry-policy.ts";
import { isStandardSchema } from "../schema.ts";
import type { HookContext } from "./hook-context.ts";

export interface HookOptions {
  /** How many times, and when, to retry, unless the trigger gives a policy. */
  readonly retries?: RetryOptions;
}

/** A handler that runs after the transaction that triggered it, with the trigger's payload. */
export interface HookDefinition<Input, Payload> {
  readonly kind: "hook";
  readonly schema: StandardSchemaV1 | null;
  /** @internal */
  readonly retries: Partial<RetryPolicy>;
  readonly handler: (payload: Payload, hook: HookContext) => unknown;
  /** Never set: it only carries the type of the payload. */
  readonly input?: (input: Input) => void;
}

/** Any hook. */
export type AnyHookDefinition = HookDefinition<never, never>;
export type HookDefinitions = Readonly<Record<string, AnyHookDefinition>>;

/** The payload that a trigger of this hook accepts. */
export type HookInput<Definition> = Definition extends HookDefinition<infer Input, never> ? Input : never;

/**
 * Defines a hook. A schema, of any library that supports Standard Schema, checks the payload at the trigger; its output is
 * stored and passed to the handler.
 *
 * @example
 * const sendMail = defineHook({ retries: { limit: 5 } }, async (mail: Mail, hook) => {
 *   await mailer.send(mail, { idempotencyKey: hook.idempotencyKey, signal: hook.signal });
 * });
 */
export function defineHook<Schema extends StandardSchemaV1>(
  options: HookOptions & { readonly input: Schema },
  handler: (payload: StandardSchemaV1.InferOutput<Schema>, hook: HookContext) => unknown,
): HookDefinition<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>>;
export function defineHook<Payload>(
  options: HookOptions & { readonly input?: undefined },
  handler: (payload: Payload, hook: HookContext) => unknown,
): HookDefinition<NoInfer<Payload>, NoInfer<Payload>>;
export function defineHook<Payload>(
  handler: (payload: Payload, hook: HookContext) => unknown,
): HookDefinition<NoInfer<Payload>, NoInfer<Payload>>;
export function defineHook(first: unknown, second?: unknown): AnyHookDefinition {
  const [options, handler] = typeof first === "function" ? [{}, first] : [first, second];
  if (typeof options !== "object" || options === null || typeof handler !== "function") {
    throw new InvalidInputError(
      "hook.invalid",
      "defineHook takes options and a handler: defineHook({ retries }, async (payload, hook) => …).",
    );
  }
  checkOptions(options, { label: "A hook", fields: ["input", "retries"], code: "hook.invalid" });
  const { input, retries } = options as { input?: unknown; retries?: unknown };
  if (input !== undefined && !isStandardSchema(input)) {
    throw new InvalidInputError(
      "hook.invalid",
      "A hook's input must be a Standard Schema (zod, valibot, arktype and others make them).",
    );
  }
  return {
    kind: "hook",
    schema: input ?? null,
    retries: parseRetries(retries, "retries"),
    handler: handler as AnyHookDefinition["handler"],
  };
}

export function isHookDefinition(value: unknown): value is AnyHookDefinition {
  return typeof value === "object" && value !== null && Reflect.get(value, "kind") === "hook";
}
