import { parseArgs } from "node:util";
import { simulateDatabases } from "./databases/simulate-databases.ts";
import { ProgressBar } from "./progress-bar.ts";
import { type SimulationResult, type SimulationStatistics, simulate } from "./simulate.ts";
import { simulateGathering } from "./simulate-gathering.ts";
import { simulateSubjects } from "./subjects/simulate-subjects.ts";

const USAGE = `npm run simulate                     1000 worlds; each has beside it those of subjects, of two databases and of gathering
npm run simulate -- --seeds 5000     that many
npm run simulate -- --from 20000     beginning with another seed
npm run simulate -- --seed 42        one world again, with everything that happens in it
npm run simulate -- --seed 42 --subjects     the subjects of that seed instead
npm run simulate -- --seed 42 --databases    the two databases of that seed instead
npm run simulate -- --seed 42 --gathering    the workflows that wait for each other's ends instead`;

type Kind = "main" | "subjects" | "databases" | "gathering";

/** For a world that went wrong; --seed shows everything. */
const LAST_LINES = 100;

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    subjects: { type: "boolean", default: false },
    databases: { type: "boolean", default: false },
    gathering: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

if (values.help) console.log(USAGE);
else if (values.seed !== undefined) await replay(toNumber("seed", values.seed), kindOf(values));
else await explore(toNumber("from", values.from), toNumber("seeds", values.seeds));

function kindOf(flags: Readonly<Record<Exclude<Kind, "main">, boolean>>): Kind {
  return (["subjects", "databases", "gathering"] as const).find((kind) => flags[kind]) ?? "main";
}

async function replay(seed: number, kind: Kind): Promise<void> {
  const worlds = {
    main: simulate,
    subjects: simulateSubjects,
    databases: simulateDatabases,
    gathering: simulateGathering,
  };
  const result = await worlds[kind](seed);
  console.log(result.trace.join("\n"));
  if (result.violation !== null) fail(seed, result.violation, kind);
  else if (!("statistics" in result)) console.log(`\nSeed ${seed}: every invariant of ${kind} holds.`);
  else console.log(`\nSeed ${seed}: every invariant holds. ${describe(result.statistics)}`);
}

async function explore(from: number, seeds: number): Promise<void> {
  const progress = new ProgressBar(seeds);
  const totals: Partial<Record<keyof SimulationStatistics, number>> = {};
  let [changes, runsBeside] = [0, 0];
  for (let seed = from; seed < from + seeds; seed++) {
    const main = await simulate(seed);
    for (const [name, value] of Object.entries(main.statistics) as [keyof SimulationStatistics, number][]) {
      totals[name] = (totals[name] ?? 0) + value;
    }
    const subjects = await simulateSubjects(seed);
    const databases = await simulateDatabases(seed);
    const gathering = await simulateGathering(seed);
    changes += subjects.changes;
    runsBeside += databases.runsBeside;
    progress.advance();
    for (const [kind, { violation, trace }] of Object.entries({ main, subjects, databases, gathering })) {
      if (violation === null) continue;
      progress.end();
      console.log(trace.slice(-LAST_LINES).join("\n"));
      fail(seed, violation, kind as Kind);
      return;
    }
  }
  progress.end();
  console.log(
    `${seeds} worlds, and every invariant holds in each. ${describe(totals as SimulationStatistics)} ` +
      `Beside them, ${changes} changes of subjects, and ${runsBeside} calls of handlers while another database was away.`,
  );
}

function fail(seed: number, violation: NonNullable<SimulationResult["violation"]>, kind: Kind): void {
  console.log(`\nSeed ${seed} breaks "${violation.invariant}": ${violation.details}`);
  console.log(`All of it again: npm run simulate -- --seed ${seed}${kind === "main" ? "" : ` --${kind}`}`);
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
