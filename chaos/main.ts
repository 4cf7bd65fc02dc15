import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { cutCommits } from "./cut-commits.ts";
import { describeProblems, describeResult, describeTable, problemsOf } from "./report.ts";
import { runChaos } from "./run-chaos.ts";
import type { ChaosEngine } from "./settings.ts";

const USAGE = `npm run chaos                              a short run on each engine
npm run chaos -- --minutes 10              faults for that long, on each engine
npm run chaos -- --seed 42                 the same schedule of faults again
npm run chaos -- --engine postgres         or sqlite: only that one
npm run chaos -- --trace                   tells each fault when it happens
npm run chaos -- --commits 10000           cuts so many connections at the commit of a step's transaction`;

const ENGINES: readonly ChaosEngine[] = ["postgres", "sqlite"];
const TITLES = { postgres: "PostgreSQL", sqlite: "SQLite" } as const;
const SHORT_MINUTES = "0.12";
const HIGHEST_SEED = 2 ** 31;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: SHORT_MINUTES },
    seed: { type: "string", default: String(Math.floor(Math.random() * HIGHEST_SEED)) },
    engine: { type: "string" },
    commits: { type: "string" },
    trace: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

let killAll = () => {};
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => {
    killAll();
    process.exit(1);
  });
}

if (values.help) {
  console.log(USAGE);
} else {
  const seed = toNumber("seed", values.seed);
  const minutes = toNumber("minutes", values.minutes);
  if (!Number.isSafeInteger(seed)) refuse("--seed must be a whole number.");
  if (values.commits !== undefined) await runCommits(seed, toNumber("commits", values.commits));
  else for (const engine of chooseEngines(values.engine)) await run(engine, seed, minutes);
}

async function run(engine: ChaosEngine, seed: number, minutes: number): Promise<void> {
  const again = `npm run chaos -- --engine ${engine} --seed ${seed} --minutes ${minutes}`;
  console.log(`${TITLES[engine]}: ${Math.round(minutes * 60)} s of faults from seed ${seed} (${again})`);
  const directory = mkdtempSync(join(tmpdir(), `perdure-chaos-${engine}-`));
  const result = await runChaos({
    engine,
    seed,
    lengthMs: minutes * 60_000,
    directory,
    note: (text) => values.trace && console.log(text),
    onStart: (kill) => {
      killAll = kill;
    },
  });
  console.log(describeResult(result));
  const problems = problemsOf(result);
  if (problems.length > 0) {
    console.log(`\n${describeProblems(result)}\n`);
    console.log(`${problems.length} times a promise was broken. Ledgers and faults: ${directory}\nAgain: ${again}\n`);
    process.exitCode = 1;
    return;
  }
  rmSync(directory, { recursive: true, force: true });
  console.log("Everything is accounted for.\n");
}

async function runCommits(seed: number, commits: number): Promise<void> {
  const again = `npm run chaos -- --commits ${commits} --seed ${seed}`;
  console.log(`PostgreSQL: ${commits} connections cut at the commit of a step's transaction (${again})`);
  const begin = performance.now();
  const { account, cuts } = await cutCommits(seed, commits, tmpdir());
  const happened = Object.entries(cuts).map(([cut, times]) => `${cut} ${times}`);
  console.log(`${((performance.now() - begin) / 1000).toFixed(0)} s. Commits lost: ${happened.join(", ")}.\n`);
  console.log(describeTable("commits", account));
  if (account.problems.length > 0) {
    console.log(`\n${describeProblems({ accounts: { account }, problems: [], entries: [] })}\n\nAgain: ${again}\n`);
    process.exitCode = 1;
    return;
  }
  console.log("Everything is accounted for.\n");
}

function chooseEngines(name: string | undefined): readonly ChaosEngine[] {
  if (name === undefined) return ENGINES;
  const chosen = ENGINES.filter((engine) => engine === name);
  return chosen.length > 0 ? chosen : refuse(`--engine must be one of ${ENGINES.join(", ")}.`);
}

function toNumber(name: string, text: string): number {
  const value = Number(text);
  return value >= 0 && text.trim() !== "" ? value : refuse(`--${name} must be a number.`);
}

function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(2);
}
