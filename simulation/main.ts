import { parseArgs } from "node:util";
import { ProgressBar } from "./progress-bar.ts";
import { type SimulationResult, type SimulationStatistics, simulate } from "./simulate.ts";
import { simulateSubjects } from "./subjects/simulate-subjects.ts";

const USAGE = `npm run simulate                     1000 worlds, each with subjects of its own beside it
npm run simulate -- --seeds 5000     that many
npm run simulate -- --from 20000     beginning with another seed
npm run simulate -- --seed 42        one world again, with everything that happens in it
npm run simulate -- --seed 42 --subjects     the subjects of that seed instead`;

/** Of a world that went wrong; --seed shows all. */
const LAST_LINES = 100;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    subjects: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) console.log(USAGE);
else if (values.seed !== undefined) await replay(toNumber("seed", values.seed), values.subjects);
else await explore(toNumber("from", values.from), toNumber("seeds", values.seeds));

async function replay(seed: number, subjects: boolean): Promise<void> {
  const result = subjects ? await simulateSubjects(seed) : await simulate(seed);
  console.log(result.trace.join("\n"));
  if (result.violation !== null) fail(seed, result.violation, subjects);
  else if (!("statistics" in result)) console.log(`\nSeed ${seed}: every invariant of subjects holds.`);
  else console.log(`\nSeed ${seed}: every invariant holds. ${describe(result.statistics)}`);
}

async function explore(from: number, seeds: number): Promise<void> {
  const progress = new ProgressBar(seeds);
  const totals: Partial<Record<keyof SimulationStatistics, number>> = {};
  let changes = 0;
  for (let seed = from; seed < from + seeds; seed++) {
    const result = await simulate(seed);
    for (const [name, value] of Object.entries(result.statistics) as [keyof SimulationStatistics, number][]) {
      totals[name] = (totals[name] ?? 0) + value;
    }
    const subjects = result.violation === null ? await simulateSubjects(seed) : null;
    changes += subjects?.changes ?? 0;
    progress.advance();
    const { violation, trace } = subjects ?? result;
    if (violation === null) continue;
    progress.end();
    console.log(trace.slice(-LAST_LINES).join("\n"));
    fail(seed, violation, subjects !== null);
    return;
  }
  progress.end();
  console.log(
    `${seeds} worlds, and every invariant holds in each. ${describe(totals as SimulationStatistics)} ` +
      `Beside them, ${changes} changes of subjects.`,
  );
}

function fail(seed: number, violation: NonNullable<SimulationResult["violation"]>, subjects: boolean): void {
  console.log(`\nSeed ${seed} breaks "${violation.invariant}": ${violation.details}`);
  console.log(`All of it again: npm run simulate -- --seed ${seed}${subjects ? " --subjects" : ""}`);
  process.exitCode = 1;
}

function describe(statistics: SimulationStatistics): string {
  const { triggers, runs, deadLetters, instances, bodies, processes, calls, virtualMs } = statistics;
  const hours = (virtualMs / 3_600_000).toFixed(1);
  return (
    `${triggers} triggers, ${runs} calls of handlers, ${deadLetters} dead letters, ` +
    `${instances} workflow instances, ${bodies} calls of their steps, ${processes} processes, ` +
    `${calls} calls of the database in ${hours} hours of their time.`
  );
}

function toNumber(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  console.error(`--${name} must be a whole number.\n\n${USAGE}`);
  process.exit(2);
}
