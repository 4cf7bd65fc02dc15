import type { Store } from "../store/store.ts";
import { codeBetweenSteps } from "./execution/steps/step-scope.ts";

/** A call that a replay would repeat, unless it has an id. */
export type RepeatedCall =
  | { readonly hookName: string }
  | { readonly createdWorkflow: string }
  | { readonly eventType: string; readonly receivingWorkflow: string };

/** What has been warned of, by workflow and call. */
const warned = new WeakMap<Store, Set<string>>();

/** Warns, once for each workflow and call, if a workflow's function makes the call between two steps and gives it no id. */
export function warnOfReplays(store: Store, call: RepeatedCall, id: unknown): void {
  const code = id === undefined ? codeBetweenSteps() : undefined;
  if (code === undefined) return;
  const known = warned.get(store) ?? new Set();
  warned.set(store, known);
  const { workflow, instance } = code;
  const label = JSON.stringify([workflow, call]);
  if (known.has(label)) return;
  known.add(label);
  store.logger.warn(describe(call), { workflow, instance, ...call });
}

function describe(call: RepeatedCall): string {
  if ("hookName" in call) {
    return "A workflow triggers a hook between its steps, so every replay triggers it again. Use step.trigger, or trigger it inside a step.";
  }
  if ("createdWorkflow" in call) {
    return "A workflow creates an instance without an id between its steps, so every replay creates another one. Use step.create, or give it an id.";
  }
  return "A workflow sends an event without an id between its steps, so every replay sends it again. Use step.sendEvent, or give it an id.";
}
