import { effect, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError, BASE, get, loadSession } from "./api.ts";
import { follow } from "./streams.ts";
import { now } from "./times.ts";

export const connected = signal(true);

/** Rises whenever something may have changed. */
const pulse = signal(0);
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

/** Listens to the server for as long as the page is open. */
export function followChanges(): void {
  follow(`${BASE}/changes`, {
    types: ["change"],
    onEvent: refresh,
    onOpen: () => {
      connected.value = true;
      refresh(); // what happened before it was connected
    },
    onLost: (refused) => {
      connected.value = false;
      if (refused) void loadSession().catch(() => {}); // it may be over, and then the page says so
    },
  });
}

/**
 * Reads now, and again whenever something changes: one read after another, each at least a second after the last began, and the
 * last one after the last change. Returns how to end it.
 */
export function keepReading(read: (gone: AbortSignal) => Promise<void>): () => void {
  const gone = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let reading = false;
  let again = false;
  let began = 0;
  let took = 0;
  const begin = async () => {
    reading = true;
    again = false;
    began = Date.now();
    await read(gone.signal);
    reading = false;
    took = Date.now() - began;
    if (again) soon();
  };
  const soon = () => {
    if (reading) {
      again = true;
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(() => void begin(), Math.max(0, began + Math.max(LEAST_MS, took * SHARE) - Date.now()));
  };
  let first = true;
  const stop = effect(() => {
    pulse.value;
    if (!first) soon();
    first = false;
  });
  void begin();
  return () => {
    stop();
    clearTimeout(timer);
    gone.abort();
  };
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
    return keepReading(async (gone) => {
      try {
        const data = await get<Answer>(url, gone);
        if (!gone.aborted) state.value = { data, error: null, loading: false, url };
      } catch (error) {
        if (gone.aborted) return;
        const known = error instanceof ApiError ? error : new ApiError(0, "unexpected", String(error));
        state.value = { data: state.value.url === url ? state.value.data : null, error: known, loading: false, url };
      }
    });
  }, [url]);
  const current = state.value;
  return current.url === url ? current : { data: null, error: null, loading: true };
}
