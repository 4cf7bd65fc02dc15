import { InvalidInputError } from "../../errors.ts";
import type { Isolation } from "../../store/engine.ts";
import type { TransactionStepConfig } from "../define/step.ts";
import { parseStepConfig, type StepPolicy } from "../execution/steps/step-config.ts";

/** How a step's transaction runs. */
export interface TransactionPolicy {
  /** Undefined: that of the database. */
  readonly isolation: Isolation | undefined;
  /** Whether its body is ours: then an error of ours is final. */
  readonly ours?: true;
}

/** A transaction holds locks, and on SQLite the whole database waits for it: without a timeout of its own it must be short. */
const DEFAULT_TIMEOUT_MS = 10_000;

const ISOLATIONS: readonly unknown[] = ["read committed", "repeatable read", "serializable"] satisfies Isolation[];

export function parseTransactionConfig(
  config: TransactionStepConfig | undefined,
  maxStepName: number,
): { readonly policy: StepPolicy; readonly transaction: TransactionPolicy } {
  const { isolation, ...rest } = config ?? {};
  if (isolation !== undefined && !ISOLATIONS.includes(isolation)) {
    throw new InvalidInputError("step.invalid", `isolation must be one of ${ISOLATIONS.join(", ")}.`);
  }
  const policy = parseStepConfig(config === undefined || config === null ? config : rest, maxStepName);
  const timeoutMs = config?.timeout === undefined ? DEFAULT_TIMEOUT_MS : policy.timeoutMs;
  return { policy: { ...policy, timeoutMs }, transaction: { isolation } };
}
