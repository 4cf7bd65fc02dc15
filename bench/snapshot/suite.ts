import pg from "pg";
import type { Databases } from "../harness/databases.ts";
import { openDatabases } from "../harness/databases.ts";
import { cpuOfBackends } from "../harness/local-backends.ts";
import { parseSuiteOptions, readNumber } from "../harness/options.ts";
import { progress } from "../harness/progress.ts";
import { publish } from "../harness/report/publish.ts";
import type { Direction, Result } from "../harness/report/result.ts";
import { describeMachine } from "../harness/report/versions.ts";
import { median } from "../harness/statistics.ts";
import { type LoadedApplication, startLoadedApplication } from "./application.ts";

const SECONDS = 600;
const SHORT_SECONDS = 4;
/** How many turns each database gets: first hooks, then workflows. */
const TURNS = 20;
const SHORT_TURNS = 2;
/** The slowdown of the last turns is what counts: by then most rows are dead. */
const LAST_SHARE = 0.25;

interface Figures {
  /** Per second. */
  readonly speed: number;
  /** µs of PostgreSQL's CPU each; NaN where it can't be known. */
  readonly cpu: number;
}

/**
 * The cost of a snapshot that a dump or a forgotten transaction holds open: PostgreSQL can't remove rows that died since. Two
 * databases take turns, one of which has the snapshot.
 */
export async function runSnapshotSuite(argv: string[]): Promise<boolean> {
  const { values } = parseSuiteOptions(argv, { seconds: { type: "string" } });
  const seconds = readNumber("seconds", values.seconds, values.short ? SHORT_SECONDS : SECONDS);
  const turns = values.short ? SHORT_TURNS : TURNS;
  await using databases = await openDatabases("postgres");
  const results = await measure(databases, seconds, turns);
  const settings = [
    `${describeMachine()}, one process`,
    databases.description,
    `${seconds} s, of which one database with a snapshot open has half, and one without the other half, in ${turns} turns of hooks and workflows
    each. 500 are in flight, created by an application without a worker, so that all are claimed`,
    `each figure is the median of the last ${LAST_SHARE * 100} % of the turns, with their lowest and highest`,
  ];
  await publish({ suite: "snapshot", results, versions: {}, settings, failures: [] }, values);
  return true;
}

async function measure(databases: Databases, seconds: number, turns: number): Promise<Result[]> {
  await using free = await databases.create();
  await using held = await databases.create();
  await using freeApplication = await startLoadedApplication(free.address);
  await using heldApplication = await startLoadedApplication(held.address);
  const sides = [
    { name: "without", address: free.address, application: freeApplication },
    { name: "with", address: held.address, application: heldApplication },
  ];
  const milliseconds = (seconds * 1000) / turns / sides.length / 2;
  for (const { address, application } of sides) await runTurn(application, address, milliseconds); // warms up
  await using _snapshot = await holdSnapshot(held.address);
  const rounds: { readonly hooks: Figures[]; readonly workflows: Figures[] }[] = [
    { hooks: [], workflows: [] },
    { hooks: [], workflows: [] },
  ];
  for (let turn = 1; turn <= turns; turn++) {
    for (const [index, { name, address, application }] of sides.entries()) {
      const { hooks, workflows } = await runTurn(application, address, milliseconds);
      rounds[index]?.hooks.push(hooks);
      rounds[index]?.workflows.push(workflows);
      progress(`  turn ${turn}, ${name}: ${hooks.speed.toFixed(0)} hooks/s, ${workflows.speed.toFixed(0)} workflows/s`);
    }
  }
  const [without, withIt] = rounds;
  if (without === undefined || withIt === undefined) return [];
  return [
    ...compare("hooks", without.hooks, withIt.hooks),
    ...compare("workflows", without.workflows, withIt.workflows),
  ];
}

async function runTurn(application: LoadedApplication, address: string, milliseconds: number) {
  const timed = async (run: () => Promise<{ readonly count: number; readonly milliseconds: number }>) => {
    const before = await cpuOfBackends(address);
    const stretch = await run();
    const used = ((await cpuOfBackends(address)) ?? Number.NaN) - (before ?? Number.NaN);
    return { speed: (stretch.count / stretch.milliseconds) * 1000, cpu: (used * 1000) / stretch.count };
  };
  return {
    hooks: await timed(() => application.runHooks(milliseconds)),
    workflows: await timed(() => application.runWorkflows(milliseconds)),
  };
}

/** A transaction that has read something, and never ends. */
async function holdSnapshot(url: string): Promise<AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {}); // the failing query reports it
  await client.connect();
  await client.query("begin isolation level repeatable read");
  await client.query("select count(*) from pg_class");
  return { [Symbol.asyncDispose]: () => client.end() };
}

function compare(what: string, without: readonly Figures[], withIt: readonly Figures[]): Result[] {
  const last = Math.max(1, Math.round(without.length * LAST_SHARE));
  const [free, held] = [without.slice(-last), withIt.slice(-last)];
  const figures = [
    ["speed", `${what}/s`, "higher", ({ speed }: Figures) => speed],
    ["CPU of PostgreSQL", "µs each", "lower", ({ cpu }: Figures) => cpu],
  ] as const;
  return figures.flatMap(([name, unit, better, of]) => {
    const ratios = held.map((figure, index) => of(figure) / of(free[index] ?? figure));
    if (ratios.some(Number.isNaN)) return [];
    return [
      result(`${what}: ${name} without a snapshot`, free.map(of), unit, better),
      result(`${what}: ${name} with a snapshot`, held.map(of), unit, better),
      result(`${what}: ${name} with ÷ without`, ratios, "times", better),
    ];
  });
}

function result(work: string, values: readonly number[], unit: string, better: Direction): Result {
  const spreads = { ours: [Math.min(...values), Math.max(...values)] } as const;
  return { work, engine: "postgres", ours: median(values), peers: {}, spreads, unit, better };
}
