import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { BASE, get, path, query } from "../data/api.ts";
import { keepReading, refresh } from "../data/live.ts";
import { follow } from "../data/streams.ts";
import type { EarlierRun, Entry, History } from "../data/types.ts";

export interface RunHistory {
  readonly entries: readonly Entry[];
  readonly earlierRuns: readonly EarlierRun[];
  /** Whether all entries that were stored are here. */
  readonly complete: boolean;
}

const PAGE = 1000;
/** More entries than any reader looks at, and less than a browser can hold. */
const MOST_ENTRIES = 50_000;

/** A page as it was read, and the cursor that it was read with. */
interface ReadPage {
  readonly cursor: string | null;
  readonly entries: readonly Entry[];
}

interface ReadRun extends RunHistory {
  /** Whose entries they are. */
  readonly of: string;
  readonly pages: readonly ReadPage[];
}

/**
 * The entries of a run. The journal is append-only, so of a long one only the last page is read again. A run that is over is
 * read once.
 */
export function useHistory(workflowName: string, id: string, run: number | null, over: boolean): RunHistory | null {
  const state = useSignal<ReadRun | null>(null);
  const of = `${workflowName}/${id}/${run}`;
  useEffect(() => {
    if (run === null) return;
    const url = `/workflows${path(workflowName)}/instances${path(id)}/history`;
    let done = false;
    return keepReading(async (gone) => {
      if (done) return;
      const known = state.value?.of === of ? state.value.pages : [];
      const read = await readNew(url, run, known, gone, (history) => {
        if (!gone.aborted) state.value = { ...history, of };
      });
      done = over && read;
    });
  }, [of, over]);
  return state.value?.of === of ? state.value : null;
}

/** Returns whether all of it could be read. */
async function readNew(
  url: string,
  run: number,
  known: readonly ReadPage[],
  signal: AbortSignal,
  show: (history: Omit<ReadRun, "of">) => void,
): Promise<boolean> {
  let pages = known.slice(0, -1);
  let cursor: string | null = known.at(-1)?.cursor ?? null;
  try {
    for (let more = true; more; ) {
      const page: History = await get<History>(`${url}${query({ run, limit: PAGE, cursor })}`, signal);
      pages = [...pages, { cursor, entries: page.entries }];
      cursor = page.cursor;
      more = cursor !== null && pages.length * PAGE < MOST_ENTRIES;
      const entries = pages.flatMap((one) => one.entries);
      show({ pages, entries, earlierRuns: page.earlierRuns, complete: cursor === null });
    }
    return true;
  } catch {
    return false; // the page says so about the instance itself, and reads again with the next change
  }
}

/** What an instance tells of itself comes sooner than other changes. */
const TYPES = [
  "step_completed",
  "attempt_errored",
  "wait_started",
  "wait_completed",
  "sleep_started",
  "sleep_completed",
  "workflow_completed",
  "workflow_errored",
  "workflow_terminated",
  "workflow_paused",
  "rollback_started",
];

/** Follows an instance's own events. */
export function useEvents(workflowName: string, id: string, on: boolean): void {
  useEffect(() => {
    if (!on) return;
    const url = `${BASE}/api/workflows${path(workflowName)}/instances${path(id)}/subscribe`;
    return follow(url, { types: TYPES, onEvent: refresh });
  }, [workflowName, id, on]);
}
