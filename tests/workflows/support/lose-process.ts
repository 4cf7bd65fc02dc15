import type { WorkflowInstance, Workflows } from "../../../src/index.ts";
import {
  eventually,
  LEASE_MS,
  type ProcessOptions,
  type WorkflowProcess,
  type WorkflowsUnderTest,
} from "./use-workflows.ts";

/** Ends a process as a deployment does, and gives another one with the same workflows: whatever was in memory is gone. */
export async function replaceProcess<const Registry extends Workflows>(
  test: WorkflowsUnderTest,
  old: { close(): Promise<void> },
  workflows: Registry,
  options: ProcessOptions = {},
): Promise<WorkflowProcess<Registry>> {
  await old.close();
  return test.start(workflows, options);
}

/** Lets so much time pass that the leases of a process whose clock stands still have ended. */
export function outliveLeases(test: WorkflowsUnderTest): void {
  test.clock.advance(LEASE_MS + 1);
}

/** Waits for a status, letting long times pass: for instances that sleep or wait, while none of their steps runs. */
export function afterLong(
  test: WorkflowsUnderTest,
  instance: Pick<WorkflowInstance, "id" | "workflowName" | "status">,
  wanted: string,
): Promise<void> {
  return eventually(async () => {
    const { status } = await instance.status();
    if (status === wanted) return;
    // At once, so that what polls doesn't do so for every moment of it; but never while an owner has a lease.
    if (await isFarOff(test, instance)) test.clock.advance(300_000);
    else await test.clock.advanceAndSettle(100);
    throw new Error(`It is ${status}, not ${wanted}.`);
  });
}

/** Waits until the instance was let go, to be woken later: everything that led to it is stored then. */
export function untilParked(instance: Pick<WorkflowInstance, "history">): Promise<void> {
  return eventually(async () => {
    const { entries } = await instance.history({ order: "newest", limit: 1 });
    if (entries[0]?.kind !== "waiting") throw new Error("It isn't parked.");
  });
}

/** Waits until nothing happens to it for longer than a lease. */
export function untilFarOff(
  test: WorkflowsUnderTest,
  instance: Pick<WorkflowInstance, "id" | "workflowName">,
): Promise<void> {
  return eventually(async () => {
    if (!(await isFarOff(test, instance))) throw new Error("It isn't parked.");
  });
}

/** Whether nothing happens to it for longer than a lease: it is parked. */
async function isFarOff(
  { database, namespace, clock }: WorkflowsUnderTest,
  { id, workflowName }: Pick<WorkflowInstance, "id" | "workflowName">,
): Promise<boolean> {
  const records = await database?.store.instances.statements.find([{ namespace, name: workflowName, id }]);
  return (records?.[0]?.availableAt ?? 0) > clock.now() + LEASE_MS;
}
