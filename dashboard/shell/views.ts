import { signal } from "@preact/signals";

/** A view that the viewer has saved: its URL below the base path, with its filters. */
export interface SavedView {
  readonly name: string;
  readonly to: string;
}

const KEY = "perdure.views";

export const views = signal<readonly SavedView[]>(read());

export function saveView(view: SavedView): void {
  store([...views.value.filter(({ name }) => name !== view.name), view]);
}

export function forgetView(name: string): void {
  store(views.value.filter((view) => view.name !== name));
}

function store(next: readonly SavedView[]): void {
  views.value = next;
  try {
    localStorage.setItem(KEY, JSON.stringify(next));
  } catch {
    // a browser without storage keeps them until the page is closed
  }
}

function read(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    if (!Array.isArray(stored)) return [];
    return stored.filter((one) => typeof one?.name === "string" && /^\/(?!\/)/.test(one?.to));
  } catch {
    return [];
  }
}
