import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { BASE, get, path, query } from "../data/api.ts";
import { paused, refresh } from "../data/live.ts";
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
  readonly run: number;
  readonly pages: readonly ReadPage[];
}

/**
 * The entries of a run. The journal is append-only, so of a long one only the last page is read again. `version` changes when
 * there may be something new.
 */
export function useHistory(workflowName: string, id: string, run: number | null, version: string): RunHistory | null {
  const state = useSignal<ReadRun | null>(null);
  useEffect(() => {
    if (run === null) return;
    const gone = new AbortController();
    const url = `/workflows${path(workflowName)}/instances${path(id)}/history`;
    const known = state.value?.run === run ? state.value.pages : [];
    void readNew(url, run, known, gone.signal, (history) => {
      if (!gone.signal.aborted) state.value = history;
    });
    return () => gone.abort();
  }, [workflowName, id, run, version]);
  return state.value?.run === run ? state.value : null;
}

async function readNew(
  url: string,
  run: number,
  known: readonly ReadPage[],
  signal: AbortSignal,
  show: (history: ReadRun) => void,
): Promise<void> {
  let pages = known.slice(0, -1);
  let cursor: string | null = known.at(-1)?.cursor ?? null;
  try {
    for (let more = true; more; ) {
      const page: History = await get<History>(`${url}${query({ run, limit: PAGE, cursor })}`, signal);
      pages = [...pages, { cursor, entries: page.entries }];
      cursor = page.cursor;
      more = cursor !== null && pages.length * PAGE < MOST_ENTRIES;
      const entries = pages.flatMap((one) => one.entries);
      show({ run, pages, entries, earlierRuns: page.earlierRuns, complete: cursor === null });
    }
  } catch {
    // the page says so about the instance itself, and reads again with the next change
  }
}

/** Follows the instance's own events, which come sooner than the other changes. */
export function useEvents(workflowName: string, id: string, follow: boolean): void {
  const on = follow && !paused.value;
  useEffect(() => {
    if (!on) return;
    const source = new EventSource(`${BASE}/api/workflows${path(workflowName)}/instances${path(id)}/subscribe`);
    const types = [
      "step_completed",
      "attempt_errored",
      "wait_started",
      "wait_completed",
      "sleep_started",
      "sleep_completed",
    ];
    const ends = [
      "workflow_completed",
      "workflow_errored",
      "workflow_terminated",
      "workflow_paused",
      "rollback_started",
    ];
    for (const type of [...types, ...ends]) source.addEventListener(type, refresh);
    return () => source.close();
  }, [workflowName, id, on]);
}
