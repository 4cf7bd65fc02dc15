import type { Engine } from "../contender.ts";
import type { Runs } from "../measure.ts";
import { median } from "../statistics.ts";
import type { Figure } from "../work.ts";
import type { Result } from "./result.ts";

/** A result per figure of the work: the median of each contender's rounds. */
export function summarise(figures: readonly Figure[], engine: Engine, everybody: readonly Runs[]): Result[] {
  const ours = everybody.find(({ contender }) => contender.role === "ours");
  const floor = everybody.find(({ contender }) => contender.role === "floor");
  const peers = everybody.filter(({ contender }) => contender.role === "peer");
  return figures.map(({ name, unit, better }, index) => ({
    work: name,
    engine,
    ...(ours !== undefined && { ours: figureOf(ours, index) }),
    peers: Object.fromEntries(peers.map((runs) => [runs.contender.name, figureOf(runs, index)])),
    ...(floor !== undefined && { floor: figureOf(floor, index) }),
    spreads: Object.fromEntries(
      everybody
        .filter(({ failure }) => failure === undefined)
        .map((runs) => [
          runs.contender.role === "peer" ? runs.contender.name : runs.contender.role,
          spreadOf(runs, index),
        ]),
    ),
    unit,
    better,
  }));
}

function figureOf(runs: Runs, index: number): number | null {
  if (runs.failure !== undefined) return null;
  return median(runs.rounds.map((figures) => figures[index] as number));
}

function spreadOf({ rounds }: Runs, index: number): readonly [number, number] {
  const figures = rounds.map((round) => round[index] as number);
  return [Math.min(...figures), Math.max(...figures)];
}
