import process from "node:process";

/** What a process has open that could still call back: timers, files, connections. */
type ActiveResources = ReadonlyMap<string, number>;

/** These are always there, or are ours. */
const IGNORED: readonly string[] = ["Immediate", "TTYWrap", "PipeWrap", "SignalWrap", "FSEventWrap"];

/**
 * Tells whether real input or output may be under way: whether more timers, files or connections are open than when this was made. Code
 * that waits while none is open waits for the test, or for the test's own time.
 */
export class RealActivity {
  readonly #before = activeResources();

  get active(): boolean {
    for (const [kind, count] of activeResources()) if (count > (this.#before.get(kind) ?? 0)) return true;
    return false;
  }
}

function activeResources(): ActiveResources {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo?.() ?? []) {
    if (!IGNORED.includes(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
