import type { SimulatedProcess, Surroundings } from "./simulated-process.ts";

/** Longer than the slowest safety poll, and than what it may find out meanwhile. */
const PATIENCE_MS = 60_000;

/** When nothing fails, nothing stays due while a worker has nothing to do: everything that waits has a wake. */
export function checkProgress(
  { world, book }: Surroundings,
  processes: readonly SimulatedProcess[],
  calmSince: number,
): void {
  const since = world.now - PATIENCE_MS;
  if (calmSince > since) return;
  const idle = processes.find(
    ({ name, works, startedAt }) => works && startedAt <= since && book.runs.idleSince(name) <= since,
  );
  if (idle === undefined) return;
  for (const { id, n, state, availableAt } of book.accounts.values()) {
    if (state !== "live" || availableAt > since) continue;
    const late = `${id} (#${n}) has been due for ${world.now - availableAt} ms`;
    world.violate("an idle world has no due work", `${late}, and ${idle.name} does nothing`);
  }
}
