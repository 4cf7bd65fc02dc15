import { signal } from "@preact/signals";
import { paused } from "../data/streams.ts";
import { toggleExact } from "../data/times.ts";
import { open } from "./router.tsx";
import { SCREENS } from "./screens.ts";

/** What lies over the page: the palette of commands, or the help on keys. */
export const overlay = signal<"palette" | "help" | null>(null);

/** The key that opens the palette, as it is named on the viewer's keyboard. */
export const PALETTE_KEY: string = /mac|iphone|ipad/i.test(navigator.platform) ? "⌘ K" : "Ctrl K";

const SEQUENCE_MS = 1200;
let begun = 0;

export function startKeys(): void {
  addEventListener("keydown", (event) => {
    if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k") {
      event.preventDefault();
      overlay.value = "palette";
      return;
    }
    if (event.metaKey || event.ctrlKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (isTyping(event.target)) {
      if (event.key === "Escape") event.target.blur(); // then the other keys work again
      return;
    }
    const action = actionOf(event.key);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

function actionOf(key: string): (() => void) | undefined {
  const second = Date.now() - begun < SEQUENCE_MS;
  begun = 0;
  const screen = second ? SCREENS.find(({ keys }) => keys.endsWith(` ${key}`)) : undefined;
  if (screen !== undefined) return () => open(screen.to);
  switch (key) {
    case "g":
      return () => {
        begun = Date.now();
      };
    case "/":
      return search;
    case "?":
      return () => {
        overlay.value = "help";
      };
    case "t":
      return toggleExact;
    case "p":
      return () => {
        paused.value = !paused.value;
      };
    default:
      return undefined;
  }
}

/** The first filter of the screen; without one, the palette. */
function search(): void {
  const field = document.querySelector<HTMLInputElement>("main .filters input");
  if (field === null) overlay.value = "palette";
  else field.focus();
}

function isTyping(target: EventTarget | null): target is HTMLElement {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
