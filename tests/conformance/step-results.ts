import type { WorkflowInstance } from "../../src/workflows/instance.ts";

/** What the steps of an instance gave, in the order in which they ended. */
export async function stepResults(instance: Pick<WorkflowInstance, "history">): Promise<unknown[]> {
  const { entries } = await instance.history({ limit: 1000 });
  return entries.flatMap(({ kind, type, output, event }) => {
    if (kind === "received") return [event?.payload];
    return kind === "completed" && type === "do" ? [output] : [];
  });
}
