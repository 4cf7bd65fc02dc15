import type { WorkflowRollbackContext } from "../../../src/index.ts";

/** Notes what each rollback is told. */
export function noteRollbacks() {
  const lines: string[] = [];
  const undo = (name: string) => ({
    rollback: async ({ ctx, error, output, stepName }: WorkflowRollbackContext) => {
      lines.push(
        `${name}: ${output}, ${error.message}, ${stepName.replace(/-\d+$/, "")}#${ctx.step.count}, attempt ${ctx.attempt}`,
      );
    },
  });
  return { lines, undo };
}
