import { WorkflowSchedules } from "../../src/workflows/schedules/schedule-operations.ts";
import type { WorkflowRuntime } from "../../src/workflows/workflow-runtime.ts";
import type { SimulatedProcess } from "../machines/simulated-process.ts";
import { answered } from "./instance-calls.ts";
import { SCHEDULED_PROGRAMS } from "./program-schedules.ts";

export const SCHEDULE_OPERATIONS = ["pause", "resume", "resume", "runNow", "list"] as const;
export type ScheduleOperation = (typeof SCHEDULE_OPERATIONS)[number];

/** An operation on schedules. A process that doesn't know the schedule refuses it. */
export async function operateSchedule(
  process: SimulatedProcess,
  operation: ScheduleOperation,
  workflow: string = process.surroundings.world.random.pick(SCHEDULED_PROGRAMS),
): Promise<void> {
  const { world, instances } = process.surroundings;
  world.note(process.name, `${operation} schedules of ${workflow}`);
  await answered(process, { answer: "asked" }, `${operation} schedules`, async () => {
    const schedules = new WorkflowSchedules(process.fragment.parts.workflows as WorkflowRuntime);
    if (operation === "list") return void (await schedules.list());
    if (operation !== "runNow") return schedules[operation]({ workflow });
    const [known] = process.schedulesOf(workflow);
    const { id } = await schedules.runNow({ workflow, ...(known === undefined ? {} : { name: known }) });
    if ([...instances.accounts.values()].some((account) => account.name === workflow && account.id === id)) return;
    world.violate(
      "nothing accepted is lost",
      `the instance ${id} that was run now was acknowledged, but never written`,
    );
  });
}
