import type { InstanceReference } from "../commands/instance-reference.ts";
import { pathOf } from "../commands/instance-reference.ts";
import type { Target } from "../targets/target.ts";

/** An entry of a history, as the HTTP API gives it. */
export interface WireEntry {
  readonly run: number;
  readonly position: number;
  readonly at: string;
  readonly kind: string;
  readonly type: string;
  readonly name: string;
  readonly count: number;
  readonly inside?: string;
  readonly attempt?: number;
  readonly output?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
  readonly awaits?: string;
  readonly dueAt?: string;
}

interface HistoryPage {
  readonly run: number;
  readonly entries: readonly WireEntry[];
  readonly cursor: string | null;
}

/** All entries of one run, or of the present one; page by page. */
export async function readEntries(
  target: Target,
  reference: InstanceReference,
  run?: number,
): Promise<{ readonly run: number; readonly entries: readonly WireEntry[] }> {
  const entries: WireEntry[] = [];
  let wanted = run;
  let cursor: string | undefined;
  for (;;) {
    const query = { limit: "1000", run: wanted, cursor };
    const page = await target.get<HistoryPage>(pathOf(reference, "history"), query);
    if (wanted === undefined && page.entries.some((entry) => entry.run !== page.run)) {
      wanted = page.run; // an instance that was restarted has the entries of earlier runs, too
      continue;
    }
    wanted ??= page.run;
    entries.push(...page.entries);
    if (page.cursor === null) return { run: wanted, entries };
    cursor = page.cursor;
  }
}
