import { effect, signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";

const KEY = "perdure.theme";
const THEMES: readonly Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>(read());

/** The viewer's choice, or what the system has. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset["theme"] = theme.value;
    try {
      localStorage.setItem(KEY, theme.value);
    } catch {
      // a browser without storage forgets the choice
    }
  });
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length] as Theme;
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(KEY) as Theme;
    return THEMES.includes(stored) ? stored : "system";
  } catch {
    return "system";
  }
}
