import type { Result } from "./result.ts";
import { formatted } from "./table-report.ts";

const WIDTH = 760;
const MARGIN = 20;
const NAMES = 200;
const FIGURES = 110;
const BAR = 16;
const ROW = 22;
const TITLE = 26;
const GAP = 18;
const LONGEST_BAR = WIDTH - 2 * MARGIN - NAMES - FIGURES;

const COLOURS = { ours: "#2563eb", peer: "#94a3b8", floor: "#86c5a4" } as const;

interface Bar {
  readonly name: string;
  readonly role: keyof typeof COLOURS;
  readonly figure: number | null;
  readonly spread: readonly [number, number] | undefined;
}

/** An SVG with a panel per result: a bar for each contender, and a line from its lowest round to its highest. */
export function drawChart(suite: string, results: readonly Result[]): string {
  const panels: string[] = [];
  let top = MARGIN;
  for (const result of results) {
    const bars = barsOf(result);
    panels.push(panel(result, bars, top));
    top += TITLE + bars.length * ROW + GAP;
  }
  const styles =
    "text { font: 13px system-ui, sans-serif; fill: #1e293b } .title { font-weight: 600 } .spread { stroke: #1e293b }";
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}" role="img">`,
    `<title>${escaped(`Benchmark: ${suite}`)}</title>`,
    `<style>${styles}</style>`,
    `<rect width="100%" height="100%" fill="#fff"/>`,
    ...panels,
    "</svg>",
    "",
  ].join("\n");
}

function barsOf({ ours, peers, floor, spreads }: Result): Bar[] {
  const all: Omit<Bar, "spread">[] = Object.entries(peers).map(([name, figure]) => ({ name, role: "peer", figure }));
  if (ours !== undefined) all.unshift({ name: "ours", role: "ours", figure: ours });
  if (floor !== undefined) all.push({ name: "floor", role: "floor", figure: floor });
  return all.map((bar) => ({ ...bar, spread: spreads?.[bar.name] }));
}

function panel({ work, engine, unit, better }: Result, bars: readonly Bar[], top: number): string {
  const longest = Math.max(...bars.flatMap(({ figure, spread }) => [figure ?? 0, spread?.[1] ?? 0]));
  const lengthOf = (figure: number) => (longest > 0 ? Math.max(0, (figure / longest) * LONGEST_BAR) : 0).toFixed(1);
  const title = `${work}, ${engine} (${unit}, ${better} is better)`;
  const lines = [`<text class="title" x="${MARGIN}" y="${top + 14}">${escaped(title)}</text>`];
  const left = MARGIN + NAMES;
  for (const [index, { name, role, figure, spread }] of bars.entries()) {
    const y = top + TITLE + index * ROW;
    lines.push(`<text x="${left - 8}" y="${y + 13}" text-anchor="end">${escaped(name)}</text>`);
    if (figure === null) {
      lines.push(`<text x="${left}" y="${y + 13}">failed</text>`);
      continue;
    }
    lines.push(`<rect x="${left}" y="${y}" width="${lengthOf(figure)}" height="${BAR}" fill="${COLOURS[role]}"/>`);
    if (spread !== undefined && spread[0] !== spread[1]) {
      const [from, to] = spread.map((end) => (left + Number(lengthOf(end))).toFixed(1));
      lines.push(`<path class="spread" d="M${from} ${y + BAR / 2}H${to}"/>`);
    }
    lines.push(`<text x="${WIDTH - MARGIN}" y="${y + 13}" text-anchor="end">${formatted(figure)}</text>`);
  }
  return lines.join("\n");
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
