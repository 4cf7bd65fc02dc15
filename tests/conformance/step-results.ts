import type { WorkflowInstance } from "../../src/workflows/instances/instance.ts";

/** What the steps of an instance gave in its present run, in the order in which they ended. */
export async function stepResults(instance: Pick<WorkflowInstance, "history" | "status">): Promise<unknown[]> {
  const { run: present } = await instance.status();
  const { entries } = await instance.history({ limit: 1000 });
  return entries.flatMap(({ run, kind, type, output, event }) => {
    if (run !== present) return [];
    if (kind === "received") return [event?.payload];
    return kind === "completed" && type === "do" ? [output] : [];
  });
}
