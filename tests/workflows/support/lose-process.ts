import type { WorkflowInstance, Workflows } from "../../../src/index.ts";
import { eventually, LEASE_MS, type WorkflowProcess, type WorkflowsUnderTest } from "./use-workflows.ts";

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

/** Waits for a status, letting long times pass: for instances that sleep or wait, while none of their steps runs. */
export function afterLong(
  test: WorkflowsUnderTest,
  instance: { status(): Promise<{ readonly status: string }> },
  wanted: string,
): Promise<void> {
  return eventually(async () => {
    test.clock.advance(300_000); // at once: what polls must not do so for every moment of it
    const { status } = await instance.status();
    if (status !== wanted) throw new Error(`It is ${status}, not ${wanted}.`);
  });
}

/** Waits until the instance was let go, to be woken later: everything that led to it is stored then. */
export function untilParked(instance: Pick<WorkflowInstance, "history">): Promise<void> {
  return eventually(async () => {
    const { entries } = await instance.history();
    if (entries.at(-1)?.kind !== "waiting") throw new Error("It isn't parked.");
  });
}
