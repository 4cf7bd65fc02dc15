import { effect, type ReadonlySignal, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, BASE, get } from "./api.ts";
import { now } from "./times.ts";

/** Whether the page follows what happens. The viewer can pause it, to read in peace. */
export const paused = signal(false);
export const connected = signal(true);

const pulse = signal(0);
/** Rises whenever something may have changed. */
export const changes: ReadonlySignal<number> = pulse;
/** Changes come in bursts; a screen reads no more often than this. */
const LEAST_MS = 1000;
/** A question that takes long is asked less often: the database spends at most a tenth of its time on it. */
const SHARE = 10;

/** Relative times change while the page is visible. */
export function tick(): void {
  setInterval(() => {
    if (!document.hidden) now.value = Date.now();
  }, 1000);
}

/** Tells screens that something changed: an action of the viewer, for example. */
export function refresh(): void {
  pulse.value += 1;
}

/** Listens to the server while the page is visible and isn't paused. */
export function followChanges(): void {
  let source: EventSource | undefined;
  const visible = signal(!document.hidden);
  document.addEventListener("visibilitychange", () => {
    visible.value = !document.hidden;
  });
  effect(() => {
    source?.close();
    source = undefined;
    if (paused.value || !visible.value) return;
    source = new EventSource(`${BASE}/changes`);
    source.addEventListener("change", refresh);
    source.addEventListener("open", () => {
      connected.value = true;
      refresh(); // what happened before it was connected
    });
    source.addEventListener("error", () => {
      connected.value = false;
    });
  });
}

export interface Resource<Answer> {
  readonly data: Answer | null;
  readonly error: ApiError | null;
  readonly loading: boolean;
}

/** An answer of the API, read again whenever something changes. The last one stays while the next is read. */
export function useResource<Answer>(url: string | null): Resource<Answer> {
  const state = useSignal<Resource<Answer> & { readonly url: string | null }>({
    data: null,
    error: null,
    loading: true,
    url,
  });
  useEffect(() => {
    if (url === null) return;
    const gone = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let reading = false;
    let again = false;
    let last = 0;
    let took = 0;
    const read = async () => {
      if (reading) {
        again = true;
        return;
      }
      reading = true;
      again = false;
      last = Date.now();
      try {
        const data = await get<Answer>(url, gone.signal);
        if (!gone.signal.aborted) state.value = { data, error: null, loading: false, url };
      } catch (error) {
        if (gone.signal.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
        state.value = { data: state.value.url === url ? state.value.data : null, error: known, loading: false, url };
      }
      reading = false;
      took = Date.now() - last;
      if (again) soon();
    };
    const soon = () => {
      clearTimeout(timer);
      timer = setTimeout(() => void read(), Math.max(0, last + Math.max(LEAST_MS, took * SHARE) - Date.now()));
    };
    let first = true;
    const stop = effect(() => {
      pulse.value;
      if (first) void read();
      else soon();
      first = false;
    });
    return () => {
      gone.abort();
      clearTimeout(timer);
      stop();
    };
  }, [url]);
  const current = state.value;
  return current.url === url ? current : { data: null, error: null, loading: true };
}
