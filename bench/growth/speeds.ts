import type { Engine } from "../harness/contender.ts";
import { cpuOfBackends } from "../harness/local-backends.ts";
import { progress } from "../harness/progress.ts";
import type { Result } from "../harness/report/result.ts";
import { median } from "../harness/statistics.ts";
import type { GrowthApplication } from "./application.ts";
import type { Scale } from "./scale.ts";

const IN_FLIGHT = 500;
const WARM_UP_SHARE = 0.5;

/** An application, and what its workflows have cost in each round. */
export interface Side {
  readonly name: "empty" | "grown";
  readonly address: string;
  readonly application: GrowthApplication;
}

interface Round {
  readonly speed: number;
  readonly node: number;
  readonly server: number | null;
}

/** Both databases in turn, so that noise hits both alike. */
export async function measureSpeeds(engine: Engine, sides: readonly [empty: Side, grown: Side], scale: Scale) {
  const rounds: Record<Side["name"], Round[]> = { empty: [], grown: [] };
  for (const { application } of sides) {
    await application.runInFlight(Math.ceil(scale.workflows * WARM_UP_SHARE), IN_FLIGHT);
  }
  for (let round = 0; round < scale.rounds; round++) {
    for (const side of sides) rounds[side.name].push(await measureRound(engine, side, scale));
  }
  return resultsOf(engine, rounds);
}

async function measureRound(engine: Engine, { name, address, application }: Side, scale: Scale): Promise<Round> {
  const serverBefore = engine === "postgres" ? await cpuOfBackends(address) : null;
  const before = process.cpuUsage();
  const start = performance.now();
  await application.runInFlight(scale.workflows, IN_FLIGHT);
  const speed = (scale.workflows / (performance.now() - start)) * 1000;
  const { user, system } = process.cpuUsage(before);
  const serverAfter = serverBefore === null ? null : await cpuOfBackends(address);
  const server = serverBefore === null || serverAfter === null ? null : serverAfter - serverBefore;
  progress(`  ${name}: ${speed.toFixed(0)} workflows/s`);
  return {
    speed,
    node: (user + system) / scale.workflows,
    server: server === null ? null : (server * 1000) / scale.workflows,
  };
}

function resultsOf(engine: Engine, rounds: Readonly<Record<Side["name"], readonly Round[]>>): Result[] {
  const figures: [name: string, unit: string, better: Result["better"], of: (round: Round) => number | null][] = [
    ["speed", "workflows/s", "higher", ({ speed }) => speed],
    ["CPU of Node", "µs/workflow", "lower", ({ node }) => node],
    ["CPU of PostgreSQL", "µs/workflow", "lower", ({ server }) => server],
  ];
  return figures.flatMap(([name, unit, better, of]) => {
    const empty = rounds.empty.map(of).filter((value) => value !== null);
    const grown = rounds.grown.map(of).filter((value) => value !== null);
    if (empty.length === 0 || grown.length === 0) return [];
    const ratios = grown.map((value, index) => value / (empty[index] ?? Number.NaN));
    return [
      summary(`${name}, empty`, engine, empty, unit, better),
      summary(`${name}, grown`, engine, grown, unit, better),
      summary(`${name}, grown ÷ empty`, engine, ratios, "times", better),
    ];
  });
}

/** One line of the report, without a contender to compare with. */
export function summary(
  work: string,
  engine: Engine,
  values: readonly number[],
  unit: string,
  better: Result["better"],
): Result {
  const spreads = { ours: [Math.min(...values), Math.max(...values)] } as const;
  return { work, engine, ours: median(values), peers: {}, spreads, unit, better };
}
