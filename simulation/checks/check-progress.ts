import type { InstanceBook } from "../books/instance-book.ts";
import type { SimulatedProcess, Surroundings } from "../machines/simulated-process.ts";

/** Longer than the slowest safety poll, and than the work that it may find. */
const PATIENCE_MS = 60_000;

/** When nothing fails, nothing stays due while a worker has nothing to do: everything that waits has a wake. */
export function checkProgress(
  { world, book, instances }: Surroundings,
  processes: readonly SimulatedProcess[],
  calmSince: number,
): void {
  const since = world.now - PATIENCE_MS;
  if (calmSince > since) return;
  const idle = processes.find(
    ({ name, works, startedAt }) =>
      works &&
      startedAt <= since &&
      book.runs.idleSince(name) <= since &&
      instances.bodies.idleSince(name) <= since &&
      !holdsInstances(instances, name),
  );
  if (idle === undefined) return;
  for (const { id, n, state, availableAt } of book.accounts.values()) {
    if (state !== "live" || availableAt > since) continue;
    const late = `${id} (#${n}) has been due for ${world.now - availableAt} ms`;
    world.violate("an idle world has no due work", `${late}, and ${idle.name} does nothing`);
  }
  for (const account of instances.accounts.values()) {
    const { ref, name, state, availableAt } = account;
    if (state !== "live" || availableAt === null || availableAt > since || account.slotKey !== null) continue;
    const late = `${name} ${ref} has been due for ${world.now - availableAt} ms`;
    world.violate("an idle world has no due work", `${late}, and ${idle.name} does nothing`);
  }
}

/** An instance that is held in memory takes a slot, too. */
function holdsInstances({ accounts }: InstanceBook, process: string): boolean {
  for (const { held, lock } of accounts.values()) if (held && lock?.startsWith(`${process}#`)) return true;
  return false;
}

/** Everything that was requested before the calm is answered by then, and every process has looked for work. */
const SETTLED_MS = 60_000;
/** How late a schedule may be fired. */
const LATEST_MS = 10_000;

/** Without faults, a schedule misses no time while a process that knows it is alive. */
export function checkSchedules(
  { world, instances }: Surroundings,
  processes: readonly SimulatedProcess[],
  calmSince: number,
): void {
  for (const account of instances.schedules.accounts.values()) {
    const { workflow, name, cron, dueAt, since } = account;
    const overdue = world.now - LATEST_MS;
    const settled = overdue - SETTLED_MS;
    if (dueAt === null || dueAt > overdue || calmSince > settled || since > settled) continue;
    const watcher = processes.find((one) => one.works && one.startedAt <= settled && one.hasSchedule(account));
    if (watcher === undefined) continue;
    const late = `${workflow} ${name} (${cron}) has been due for ${world.now - dueAt} ms`;
    world.violate("no time of a schedule is missed", `${late}, and ${watcher.name} has it in its code`);
  }
}
