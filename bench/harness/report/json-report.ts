import type { Report } from "./publish.ts";
import type { Result } from "./result.ts";

/**
 * The report for programs: `{ suite, results: [{ work, engine, ours = null, peers, floor, spreads, unit }], versions, settings
 * }`. A peer that failed isn't in a result.
 */
export function jsonReport({ suite, results, versions, settings }: Report): string {
  return JSON.stringify({ suite, results: results.map(jsonResult), versions, settings }, null, 2);
}

function jsonResult({ work, engine, ours = null, peers, floor = null, spreads = {}, unit }: Result) {
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
