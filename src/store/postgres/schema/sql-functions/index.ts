import type { SchemaPrefix } from "../../sql/statement.ts";
import { checkFunctions } from "./checks.ts";
import { createWorkflowFunction } from "./create-workflow.ts";
import { sendEventFunction } from "./send-event.ts";
import { triggerHookFunction } from "./trigger-hook.ts";
import { valueFunctions } from "./values.ts";
import { wakeFunctions } from "./wake.ts";

/** What database triggers and programs in other languages call: `trigger_hook`, `create_workflow` and `send_event`. */
export function sqlFunctions(schema: SchemaPrefix): string[] {
  const callers = [triggerHookFunction, createWorkflowFunction, sendEventFunction];
  return [checkFunctions, valueFunctions, wakeFunctions, ...callers].flatMap((part) => part(schema));
}
