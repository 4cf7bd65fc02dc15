import type { Logger } from "../logger.ts";
import { codeBetweenSteps } from "../workflows/execution/steps/step-scope.ts";

/** Warns once for each workflow and hook, if the workflow's function triggers the hook between two steps. */
export function createReplayWarning(logger: Logger): (hookName: string) => void {
  const warned = new Set<string>();
  return (hookName) => {
    const code = codeBetweenSteps();
    if (code === undefined) return;
    const pair = `${code.workflow}\n${hookName}`; // names have no line feeds
    if (warned.has(pair)) return;
    warned.add(pair);
    logger.warn(
      "A workflow triggers a hook between its steps, so every replay triggers it again. Use step.trigger, or trigger it inside a step.",
      { workflow: code.workflow, instance: code.instance, hookName },
    );
  };
}
