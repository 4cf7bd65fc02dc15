import type { Report } from "./publish.ts";
import { bestPeer, type Direction, type Result, ratio } from "./result.ts";

/** The report for people: a line per contender, the two ratios of ours, and what they were measured with. */
export function tableReport({ results, versions, settings }: Report): string {
  const sections = results.map(section);
  const lines = [...Object.entries(versions).map(([name, version]) => `${name} ${version}`), ...settings];
  sections.push(["Versions, settings and methods", ...lines.map((line) => `  ${line}`)].join("\n"));
  return sections.join("\n\n");
}

function section(result: Result): string {
  const peers = Object.entries(result.peers);
  const rows: [string, number | null][] = [...peers];
  if (result.ours !== undefined) rows.unshift(["ours", result.ours]);
  if (result.floor !== undefined) rows.push(["floor", result.floor]);
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
    ...(peers.length > 0 && result.ours !== undefined
      ? [line("ours ÷ best peer", verdict(ratio(result.ours, bestPeer(result)), result.better))]
      : []),
    ...(result.floor !== undefined
      ? [line("ours ÷ floor", verdict(ratio(result.ours, result.floor), result.better))]
      : []),
  ].join("\n");
}

function verdict(value: number | null, better: Direction): string {
  if (value === null) return "-".padStart(10);
  const ahead = better === "higher" ? value >= 1 : value <= 1;
  return `${value.toFixed(2).padStart(10)}  ${ahead ? "ahead" : "behind"}`;
}

export function formatted(figure: number): string {
  const digits = Math.abs(figure) >= 100 ? 0 : 2;
  return figure.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
