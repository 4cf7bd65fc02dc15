import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type Duration, parseDuration } from "../duration.ts";
import { InvalidInputError } from "../errors.ts";
import { checkOptions } from "../options.ts";
import { type FlowControl, type FlowControlOptions, parseFlowControl } from "../queue/flow-control.ts";
import { parseRetries, type RetryOptions, type RetryPolicy } from "../queue/retry-policy.ts";
import { isStandardSchema } from "../schema.ts";
import { type HookBatch, type HookBatchOptions, type HookItem, parseBatch } from "./hook-batches.ts";
import type { HookContext } from "./hook-context.ts";

const LONGEST_TIMEOUT_MS = 86_400_000;
const FIELDS = ["input", "retries", "timeout", "batch", "concurrency", "rateLimit"];

export interface HookOptions {
  /** How many times, and when, to retry, unless the trigger gives a policy. */
  readonly retries?: RetryOptions;
  /** An attempt that takes longer is aborted, and fails. Default: `stuckProcessingTimeoutMinutes`. */
  readonly timeout?: Duration;
}

/** A handler that runs after the transaction that triggered it, with the trigger's payload. */
export interface HookDefinition<Input, Payload> {
  readonly kind: "hook";
  readonly schema: StandardSchemaV1 | null;
  /** @internal */
  readonly retries: Partial<RetryPolicy>;
  /** @internal */
  readonly timeoutMs: number | null;
  /** @internal */
  readonly batch: HookBatch | null;
  /** @internal */
  readonly flow: FlowControl | null;
  readonly handler: (payload: Payload, hook: HookContext) => unknown;
  /** Never set: it only carries the type of the payload. */
  readonly input?: (input: Input) => void;
}

/** Any hook. */
export type AnyHookDefinition = HookDefinition<never, never>;
export type HookDefinitions = Readonly<Record<string, AnyHookDefinition>>;

/** The payload that a trigger of this hook accepts. */
export type HookInput<Definition> = Definition extends HookDefinition<infer Input, never> ? Input : never;

/** The payload that a trigger accepts, and the one that a handler receives. Without a schema, its annotation says both. */
type AcceptedPayload<Schema extends StandardSchemaV1 | undefined, Payload> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Schema>
  : Payload;
type CheckedPayload<Schema extends StandardSchemaV1 | undefined, Payload> = Schema extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Schema>
  : Payload;

/** The keys of the limits are made from the payload that the handler receives. */
type Limits<Schema extends StandardSchemaV1 | undefined, Payload> = FlowControlOptions<CheckedPayload<Schema, Payload>>;

/**
 * Defines a hook. A schema, of any library that supports Standard Schema, checks the payload at the trigger; its output is
 * stored and passed to the handler.
 *
 * @example
 * const sendMail = defineHook({ retries: { limit: 5 } }, async (mail: Mail, hook) => {
 *   await mailer.send(mail, { idempotencyKey: hook.idempotencyKey, signal: hook.signal });
 * });
 *
 * @example
 * const index = defineHook({ batch: { size: 100, delay: "2s" } }, async (items: readonly HookItem<Page>[]) => {
 *   const refused = await search.index(items.map(({ payload }) => payload));
 *   for (const { position, reason } of refused) items[position]?.fail(new Error(reason));
 * });
 */
export function defineHook<Payload, Schema extends StandardSchemaV1 | undefined = undefined>(
  options: HookOptions & Limits<Schema, Payload> & { readonly input?: Schema; readonly batch: HookBatchOptions },
  handler: (items: readonly HookItem<CheckedPayload<Schema, Payload>>[]) => unknown,
): HookDefinition<AcceptedPayload<Schema, NoInfer<Payload>>, CheckedPayload<Schema, NoInfer<Payload>>>;
export function defineHook<Payload, Schema extends StandardSchemaV1 | undefined = undefined>(
  options: HookOptions & Limits<Schema, Payload> & { readonly input?: Schema; readonly batch?: undefined },
  handler: (payload: CheckedPayload<Schema, Payload>, hook: HookContext) => unknown,
): HookDefinition<AcceptedPayload<Schema, NoInfer<Payload>>, CheckedPayload<Schema, NoInfer<Payload>>>;
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
  checkOptions(options, { label: "A hook", fields: FIELDS, code: "hook.invalid" });
  const { input, retries, timeout, batch, concurrency, rateLimit } = options as Record<string, unknown>;
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
    timeoutMs: timeout === undefined ? null : parseTimeout(timeout as Duration),
    batch: parseBatch(batch),
    flow: parseFlowControl(concurrency, rateLimit, "hook.invalid"),
    handler: handler as AnyHookDefinition["handler"],
  };
}

function parseTimeout(timeout: Duration): number {
  const milliseconds = parseDuration(timeout, "timeout");
  if (milliseconds >= 1 && milliseconds <= LONGEST_TIMEOUT_MS) return milliseconds;
  throw new InvalidInputError("hook.invalid", "The timeout of a hook must be from 1 millisecond to 1 day.");
}

export function isHookDefinition(value: unknown): value is AnyHookDefinition {
  return typeof value === "object" && value !== null && Reflect.get(value, "kind") === "hook";
}
