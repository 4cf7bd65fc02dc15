import { useSignal } from "@preact/signals";
import { say } from "../shell/dialogs.tsx";

/** Copies a text. Without the clipboard, as on plain HTTP, it says so. */
export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const done = useSignal(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      done.value = true;
      setTimeout(() => {
        done.value = false;
      }, 1500);
    } catch {
      say("The browser allows copying only on HTTPS and localhost.", { failed: true });
    }
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={() => void copy()}>
      {done.value ? (
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="m3 8.5 3.2 3.2L13 5" />
        </svg>
      ) : (
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
          <path d="M10.5 3.5v-1h-8v8h1" />
        </svg>
      )}
    </button>
  );
}
