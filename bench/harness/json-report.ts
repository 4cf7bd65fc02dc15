import type { Result } from "./result.ts";

/** The results for programs: `{ results: [{ work, engine, ours, peers, floor, spreads, unit }] }`. A peer that failed isn't in it. */
export function jsonReport(results: readonly Result[]): string {
  return JSON.stringify({ results: results.map(jsonResult) }, null, 2);
}

function jsonResult({ work, engine, ours, peers, floor, spreads = {}, unit }: Result) {
  const measured = Object.entries(peers).filter(([, figure]) => figure !== null);
  return {
    work,
    engine,
    ours: rounded(ours),
    peers: Object.fromEntries(measured.map(([name, figure]) => [name, rounded(figure)])),
    floor: rounded(floor),
    spreads: Object.fromEntries(Object.entries(spreads).map(([name, spread]) => [name, spread.map(rounded)])),
    unit,
  };
}

function rounded(figure: number | null): number | null {
  return figure === null ? null : Number(figure.toPrecision(4));
}
