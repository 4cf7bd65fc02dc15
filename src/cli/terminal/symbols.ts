/** Characters that only some terminals show. */
export interface Symbols {
  readonly ok: string;
  readonly warning: string;
  readonly failed: string;
  readonly cut: string;
  readonly full: string;
  readonly light: string;
  readonly empty: string;
  readonly arrow: string;
  readonly branch: string;
}

export const UNICODE: Symbols = {
  ok: "✔",
  warning: "▲",
  failed: "✖",
  cut: "…",
  full: "█",
  light: "░",
  empty: "·",
  arrow: "→",
  branch: "└",
};

export const ASCII: Symbols = {
  ok: "ok",
  warning: "!",
  failed: "x",
  cut: "~",
  full: "#",
  light: "-",
  empty: ".",
  arrow: "->",
  branch: "`",
};
