import { checkIsolation, DEFAULT_TRANSACTION_TIMEOUT_MS } from "../../queue/transaction-options.ts";
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

export function parseTransactionConfig(
  config: TransactionStepConfig | undefined,
  maxStepName: number,
): { readonly policy: StepPolicy; readonly transaction: TransactionPolicy } {
  const { isolation, ...rest } = config ?? {};
  checkIsolation(isolation, "step.invalid");
  const policy = parseStepConfig(config === undefined || config === null ? config : rest, maxStepName);
  const timeoutMs = config?.timeout === undefined ? DEFAULT_TRANSACTION_TIMEOUT_MS : policy.timeoutMs;
  return { policy: { ...policy, timeoutMs }, transaction: { isolation } };
}
