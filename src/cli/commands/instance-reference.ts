import { usageError } from "../failures.ts";

/** An instance as commands name it: `checkout/order-1`. */
export interface InstanceReference {
  readonly workflowName: string;
  readonly id: string;
}

/** The names of workflows have no slash. */
export function parseReference(text: string): InstanceReference {
  const slash = text.indexOf("/");
  if (slash > 0 && slash < text.length - 1) return { workflowName: text.slice(0, slash), id: text.slice(slash + 1) };
  throw usageError(
    `An instance is named by its workflow and its id, as in checkout/order-1; got "${text}".`,
    "List what there is: perdure workflows list.",
  );
}

export function showReference({ workflowName, id }: InstanceReference): string {
  return `${workflowName}/${id}`;
}

export function pathOf({ workflowName, id }: InstanceReference, ...part: readonly string[]): readonly string[] {
  return ["workflows", workflowName, "instances", id, ...part];
}
