import { WorkflowTerminatedError } from "../../errors.ts";
import type { EntryKind, InstanceName, NewEntry } from "../../store/instances/instance-records.ts";
import { decodeValue, describeError } from "../../values/index.ts";
import type { WorkflowRollbackContext, WorkflowStepContext } from "../define/step.ts";
import { BodyCall } from "../execution/steps/step-call.ts";
import { describePolicy } from "../execution/steps/step-config.ts";
import type { UndoableStep } from "./undoable-steps.ts";

/** How the entries of a rollback differ from those of its step. */
const KINDS: Partial<Record<EntryKind, EntryKind>> = {
  started: "rollbackStarted",
  completed: "rolledBack",
  failed: "rollbackFailed",
};

/** The call of one step's rollback: tried like a step, and remembered among the step's entries. */
export class RollbackCall extends BodyCall {
  /** `failure` makes the error that the handler receives, a new copy for each attempt. */
  constructor({ step, call, record }: UndoableStep & { readonly call: BodyCall }, failure: () => Error) {
    const { handler, policy } = call.rollback as NonNullable<BodyCall["rollback"]>;
    const body = async (ctx: WorkflowStepContext) => {
      const config = describePolicy(call.policy);
      const context = {
        ctx: withConfig(ctx, config),
        error: failure(),
        output: outputOf(call),
        stepName: `${call.name}-${call.count}`,
      };
      await handler(context as WorkflowRollbackContext<never, never>);
    };
    super(step, policy, body);
    if (record !== null && record.undo !== null) this.rememberAttempts(record.undo);
  }

  override get key(): string {
    return `rollback:${super.key}`;
  }

  override entry(kind: EntryKind, details?: Parameters<BodyCall["entry"]>[1]): NewEntry {
    return super.entry(KINDS[kind] ?? kind, details);
  }
}

/** Why a run is rolled back, as its handlers are told. `error` is the workflow's, as it is stored. */
export function rollbackFailure(error: string | null, { name, id }: InstanceName): Error {
  if (error === null) return new WorkflowTerminatedError(name, id);
  const thrown = decodeValue(error);
  return thrown instanceof Error ? thrown : new Error(describeError(thrown).message, { cause: thrown });
}

/** The output of the step: stored in this execution, or before. */
export function outputOf({ output, record }: BodyCall): unknown {
  const ending = record?.ending ?? null;
  const text = output ?? (ending?.kind === "completed" ? ending.value : null);
  return text === null ? undefined : decodeValue(text);
}

/** With the step's config. The rest is read when it is asked for. */
function withConfig(ctx: WorkflowStepContext, config: WorkflowStepContext["config"]): WorkflowStepContext {
  return {
    step: ctx.step,
    attempt: ctx.attempt,
    config,
    emit: (value) => ctx.emit(value),
    get idempotencyKey() {
      return ctx.idempotencyKey;
    },
    get signal() {
      return ctx.signal;
    },
  };
}
