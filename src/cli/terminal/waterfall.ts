import { ShortenedTime } from "./idle-time.ts";
import { cutTo, safeText, widthOf } from "./safe-text.ts";
import type { Style, Terminal } from "./terminal.ts";
import { showSpan } from "./times.ts";

/** One line of a waterfall. */
export interface Span {
  readonly label: string;
  readonly from: number;
  /** Null while it lasts. */
  readonly to: number | null;
  readonly state: "done" | "failed" | "open" | "waited";
  /** Whether nothing runs in it: a sleep, or a wait. */
  readonly waits: boolean;
  /** Other attempts before the last. */
  readonly note: string;
}

const STYLES: Readonly<Record<Span["state"], Style>> = { done: "green", failed: "red", open: "cyan", waited: "dim" };
const LONGEST_LABEL = 32;
const LEAST_BAR = 16;

/** Steps as bars on the time of a run. A step that was too short for a bar still gets one character. */
export function drawWaterfall(terminal: Terminal, spans: readonly Span[], now: number): string {
  if (spans.length === 0) return "";
  const begin = Math.min(...spans.map(({ from }) => from));
  const end = Math.max(...spans.map(({ from, to }) => to ?? Math.max(now, from)));
  const labels = spans.map(({ label }) => cutTo(safeText(label), LONGEST_LABEL, terminal.symbols.cut));
  const details = spans.map(({ from, to, note }) => `${to === null ? "" : showSpan(to - from)}${note}`.trim());
  const labelWidth = Math.max(...labels.map(widthOf));
  const detailWidth = Math.max(...details.map(widthOf));
  const room = Math.max(LEAST_BAR, terminal.columns - labelWidth - detailWidth - 4);
  const busy = spans.filter(({ waits }) => !waits).map(({ from, to }) => ({ from, to: to ?? end }));
  const scale = new ShortenedTime(busy, { from: begin, to: end });
  const column = (time: number) => Math.round(scale.place(time) * (room - 1));
  const { full, light, empty } = terminal.symbols;
  const rows = spans.map(({ from, to, state }, index) => {
    const [first, last] = [column(from), column(to ?? end)];
    const length = Math.max(1, last - first + 1);
    const bar = terminal.style(STYLES[state], (state === "open" || state === "waited" ? light : full).repeat(length));
    const before = terminal.style("dim", empty.repeat(first));
    const after = terminal.style("dim", empty.repeat(Math.max(0, room - first - length)));
    const label = labels[index] as string;
    return `${label}${" ".repeat(labelWidth - widthOf(label))}  ${before}${bar}${after}  ${details[index]}`.trimEnd();
  });
  const remark = scale.shortened ? [terminal.style("dim", "Time in which nothing runs is shown short.")] : [];
  return [...rows, ...remark].join("\n");
}
