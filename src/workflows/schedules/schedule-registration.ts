import type { WorkflowRuntime } from "../workflow-runtime.ts";
import { type CodeSchedule, sameSchedule } from "./schedule-code.ts";

/** A schedule that no process has confirmed for so long isn't in anybody's code any more. */
const RETIRED_AFTER_MS = 86_400_000;
/** Nobody need confirm what was confirmed within this time. */
const CONFIRMED_FOR_MS = 600_000;

/**
 * Stores what the code has and the database hasn't; a new schedule begins with its next time. What vanished from the code of a
 * workflow is deleted once nobody has confirmed it for a day: until then another process may still run the code that has it, and
 * while nobody does, nobody fires it.
 */
export async function registerSchedules(
  { store, namespace, workflows }: WorkflowRuntime,
  code: readonly CodeSchedule[],
  { retires }: { retires: boolean },
): Promise<void> {
  const statements = store.engine.schedules;
  const { at, schedules } = await statements.list([namespace]);
  const isStored = ({ key }: CodeSchedule) => schedules.some((stored) => sameSchedule(stored, key));
  const missing = code.filter((one) => !isStored(one));
  await statements.insert(missing.map(({ key, schedule }) => ({ ...key, dueAt: schedule.times.nextAfter(at) })));
  const ours = schedules.filter((stored) => code.some(({ key }) => sameSchedule(key, stored)));
  await statements.confirm(ours.filter(({ confirmedAt }) => confirmedAt < at - CONFIRMED_FOR_MS));
  if (!retires) return;
  const vanished = schedules.filter(
    (stored) => !ours.includes(stored) && workflows.find(stored.workflow) !== undefined,
  );
  const old = vanished.filter(({ confirmedAt }) => confirmedAt < at - RETIRED_AFTER_MS);
  await statements.retire(old, at - RETIRED_AFTER_MS);
}
