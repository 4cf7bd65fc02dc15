import { NonRetryableError } from "../../src/errors.ts";
import type { WorkflowStepRollbackOptions } from "../../src/workflows/define/step.ts";
import type { Params } from "../checks/instance-records.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { behave, never } from "./behave.ts";
import { planned } from "./planned.ts";

/** Less than those that hang do. */
const TIMEOUT_MS = 20_000;

/** The rollback of a step: it does what the params say, and the books know of each call. */
export function createRollback(process: SimulatedProcess, params: Params, limit: number): WorkflowStepRollbackOptions {
  const { world, instances } = process.surroundings;
  const { rollbacks } = instances;
  return {
    rollbackConfig: { retries: { limit, delay: params.short }, timeout: TIMEOUT_MS },
    rollback: async (context) => {
      if (process.lane.closed) return never();
      const { ctx } = context;
      const behaviour = planned(params, `${ctx.step.name} back`, ctx.attempt);
      rollbacks.began(process.name, context, limit);
      world.note(process.name, `${ctx.idempotencyKey} begins, attempt ${ctx.attempt}: ${behaviour}`);
      try {
        await behave(process, behaviour, ctx);
        rollbacks.succeeded(ctx);
      } catch (error) {
        if (error instanceof NonRetryableError) rollbacks.refused(ctx);
        throw error;
      }
    },
  };
}
