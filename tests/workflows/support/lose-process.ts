import type { Workflows } from "../../../src/index.ts";
import { LEASE_MS, type WorkflowProcess, type WorkflowsUnderTest } from "./use-workflows.ts";

/** Ends a process as a deployment does, and gives another one with the same workflows: whatever was in memory is gone. */
export async function replaceProcess<const Registry extends Workflows>(
  test: WorkflowsUnderTest,
  old: { close(): Promise<void> },
  workflows: Registry,
): Promise<WorkflowProcess<Registry>> {
  await old.close();
  return test.start(workflows);
}

/** Lets so much time pass that the leases of a process whose clock stands still have ended. */
export function outliveLeases(test: WorkflowsUnderTest): void {
  test.clock.advance(LEASE_MS + 1);
}
