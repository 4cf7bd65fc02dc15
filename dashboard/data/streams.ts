import { effect, signal } from "@preact/signals";

/** Whether the viewer pauses live updates, to read in peace. */
export const paused = signal(false);
/** Whether the page can be seen. A page that can't needs no connection: browsers have six for all pages of a server. */
const visible = signal(!document.hidden);

document.addEventListener("visibilitychange", () => {
  visible.value = !document.hidden;
});

const FIRST_DELAY_MS = 1000;
const LONGEST_DELAY_MS = 30_000;

interface StreamHandlers {
  /** The types of events that matter, and what happens then. */
  readonly types: readonly string[];
  readonly onEvent: () => void;
  readonly onOpen?: () => void;
  /** The connection is lost. `refused`: the server answered with something else than a stream. */
  readonly onLost?: (refused: boolean) => void;
}

/**
 * A stream of the server's events, open while the page is visible and isn't paused. A browser reconnects by itself when a
 * connection breaks; when it gives up, because of an answer that isn't a stream, it is opened again after a while. Returns how
 * to end it.
 */
export function follow(url: string, { types, onEvent, onOpen, onLost }: StreamHandlers): () => void {
  let source: EventSource | undefined;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let delay = FIRST_DELAY_MS;
  const close = () => {
    clearTimeout(retry);
    source?.close();
    source = undefined;
  };
  const open = () => {
    close();
    const next = new EventSource(url);
    source = next;
    for (const type of types) next.addEventListener(type, onEvent);
    next.addEventListener("open", () => {
      delay = FIRST_DELAY_MS;
      onOpen?.();
    });
    next.addEventListener("error", () => {
      const refused = next.readyState === EventSource.CLOSED;
      onLost?.(refused);
      if (!refused) return;
      retry = setTimeout(open, delay * (0.75 + Math.random() / 2)); // not all pages at once
      delay = Math.min(delay * 2, LONGEST_DELAY_MS);
    });
  };
  const stop = effect(() => {
    if (paused.value || !visible.value) close();
    else open();
  });
  return () => {
    stop();
    close();
  };
}
