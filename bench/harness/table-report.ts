import { bestPeer, type Direction, type Result, ratio } from "./result.ts";

/** The results for people: a line per contender, the two ratios of ours, and what they were measured with. */
export function tableReport(results: readonly Result[], settings: readonly string[]): string {
  const sections = results.map(section);
  sections.push(["Settings and methods", ...settings.map((line) => `  ${line}`)].join("\n"));
  return sections.join("\n\n");
}

function section(result: Result): string {
  const rows: [string, number | null][] = [
    ["ours", result.ours],
    ...Object.entries(result.peers),
    ["floor", result.floor],
  ];
  const width = Math.max(...rows.map(([name]) => name.length), "ours ÷ best peer".length);
  const spread = (name: string) => {
    const [lowest, highest] = result.spreads?.[name] ?? [0, 0];
    return lowest === highest ? "" : `  (${formatted(lowest)} to ${formatted(highest)})`;
  };
  const line = (name: string, text: string) => `  ${name.padEnd(width)}  ${text}`;
  return [
    `${result.work}, ${result.engine} (${result.unit}, ${result.better} is better)`,
    ...rows.map(([name, figure]) =>
      line(name, figure === null ? "failed" : formatted(figure).padStart(10) + spread(name)),
    ),
    line("ours ÷ best peer", verdict(ratio(result.ours, bestPeer(result)), result.better)),
    line("ours ÷ floor", verdict(ratio(result.ours, result.floor), result.better)),
  ].join("\n");
}

function verdict(value: number | null, better: Direction): string {
  if (value === null) return "-".padStart(10);
  const ahead = better === "higher" ? value >= 1 : value <= 1;
  return `${value.toFixed(2).padStart(10)}  ${ahead ? "ahead" : "behind"}`;
}

function formatted(figure: number): string {
  const digits = Math.abs(figure) >= 100 ? 0 : 2;
  return figure.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
