import type { HookInsert } from "../../src/store/hooks/hook-records.ts";
import { RELAY } from "../../src/store/hooks/relay.ts";
import { decodeValue } from "../../src/values/index.ts";

/** What a handler does in one attempt. */
export type Behaviour =
  | "succeed"
  | "work"
  | "effect"
  | "chain"
  | "throw"
  | "refuse"
  | "hang"
  | "ignore"
  | "kill"
  | "effect-and-kill";

/**
 * What a handler of a hook does in one attempt: a transaction may complete it. If it succeeds, nothing that follows matters:
 * the handler may throw, its process may end, or it may not wait. Or the transaction is rolled back.
 */
export type HookBehaviour =
  | Behaviour
  | "transact"
  | "transact-and-throw"
  | "transact-and-kill"
  | "transact-unawaited"
  | "roll-back";

/** The payload of each hook: its trigger's number, and what its handler does in each attempt (the last one repeats). */
export interface Payload {
  readonly n: number;
  readonly plan: readonly HookBehaviour[];
}

/**
 * A call that triggers a hook, as its caller sees it.
 *
 * - `asked`: no answer, yet or ever. It may have been accepted or not.
 * - `acknowledged`: accepted, for certain.
 * - `refused`: not accepted, for certain.
 * - `unknown`: the answer was an error after which either may be true.
 */
export interface TriggerRecord {
  readonly n: number;
  readonly process: string;
  readonly name: string;
  readonly key: string | null;
  readonly ownId: string | null;
  readonly via: "trigger" | "unitOfWork" | "within";
  readonly processAt: number | null;
  readonly maxAttempts: number;
  readonly plan: readonly HookBehaviour[];
  answer: "asked" | "acknowledged" | "refused" | "unknown";
  /** Whether a commit of the database carried it (or a later trigger of its key that was merged with it). */
  accepted: boolean;
}

/** The number of the trigger that a row, or a relay of it, carries. */
export function numberOf({ name, payload }: Pick<HookInsert, "name" | "payload">): number {
  if (name !== RELAY) return (decodeValue(payload) as Payload).n;
  return numberOf((JSON.parse(payload) as { readonly trigger: HookInsert }).trigger);
}
