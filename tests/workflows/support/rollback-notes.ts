import type { WorkflowRollbackContext } from "../../../src/index.ts";

/** Notes what each rollback is told. */
export function noteRollbacks() {
  const lines: string[] = [];
  const undo = (name: string) => ({
    rollback: async ({ ctx, error, output }: WorkflowRollbackContext) => {
      lines.push(`${name}: ${output}, ${error.message}, ${ctx.step.name}#${ctx.step.count}, attempt ${ctx.attempt}`);
    },
  });
  return { lines, undo };
}
