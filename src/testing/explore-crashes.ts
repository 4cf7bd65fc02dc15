import { isDeepStrictEqual } from "node:util";
import { InvalidInputError, PerdureError } from "../errors.ts";
import { describeError } from "../values/index.ts";
import type { CrashMoment } from "./commit-points.ts";
import type { CrashApp, CrashPoint, CrashReport, CrashScenario, CrashWorld, ExploreOptions } from "./crash-scenario.ts";
import { createTestWorld, TestApp } from "./test-app.ts";
import { TEST_APP_FIELDS } from "./test-app-options.ts";

const NO_CRASH: CrashPoint = { commit: 0, when: "never", during: "nothing" };
const MOMENTS: readonly CrashMoment[] = ["before", "after"];

/**
 * Runs a scenario once without a crash and then twice for each of its commits: with a crash just before the commit, and with
 * one just after it, before the caller is answered. Each time a new process finishes the work. Reports every different outcome.
 *
 * The scenario must do the same each time, so `setUp` must replace everything outside by stand-ins.
 *
 * @example
 * const { outcomes } = await exploreCrashes({
 *   setUp() {
 *     const charged = new Set<string>();
 *     const charge = defineHook(async (order: Order, hook) => void charged.add(hook.idempotencyKey));
 *     return { hooks: { charge }, charged };
 *   },
 *   run: (app) => app.hooks.charge.trigger({ id: "order-1" }, { id: "order-1" }),
 *   check: (_app, { charged }) => charged.size,
 * }, { runAgain: true });
 * expect(outcomes).toHaveLength(1);
 */
export async function exploreCrashes<World extends CrashWorld, Outcome>(
  scenario: CrashScenario<World, Outcome>,
  options: ExploreOptions = {},
): Promise<CrashReport<Outcome>> {
  checkScenario(scenario, options);
  const { maxRuns = 1000 } = options;
  const baseline = await runScenario(scenario, options, NO_CRASH);
  const points = baseline.commits.flatMap((during, index) =>
    MOMENTS.map((when): CrashPoint => ({ commit: index + 1, when, during })),
  );
  if (points.length + 1 > maxRuns) {
    throw new InvalidInputError(
      "testing.too_many_runs",
      `The scenario has ${baseline.commits.length} commits and needs ${points.length + 1} runs: make it smaller, or raise maxRuns.`,
    );
  }
  const outcomes: { outcome: Outcome; crashes: CrashPoint[] }[] = [];
  const add = ({ outcome, crash }: RunResult<Outcome>) => {
    const known = outcomes.find((one) => isDeepStrictEqual(one.outcome, outcome));
    if (known === undefined) outcomes.push({ outcome, crashes: [crash] });
    else known.crashes.push(crash);
  };
  add(baseline);
  for (const point of points) add(await runScenario(scenario, options, point));
  return { runs: points.length + 1, outcomes };
}

interface RunResult<Outcome> {
  readonly outcome: Outcome;
  /** Descriptions of the commits, in order. */
  readonly commits: readonly string[];
  /** Where it crashed, if it came to that. */
  readonly crash: CrashPoint;
}

async function runScenario<World extends CrashWorld, Outcome>(
  { setUp, run, check }: CrashScenario<World, Outcome>,
  { runAgain = false, finishWithin = "1 day" }: ExploreOptions,
  point: CrashPoint,
): Promise<RunResult<Outcome>> {
  const world = await setUp();
  const options = optionsOf(world);
  const testWorld = await createTestWorld(options);
  await using running = new TestApp(testWorld, options.env);
  const app = running as unknown as CrashApp<World>;
  const commits: string[] = [];
  let crash = NO_CRASH;
  testWorld.observeCommits((during) => {
    if (commits.push(during) !== point.commit || point.when === "never") return null;
    crash = { ...point, during };
    return point.when;
  });
  const attempt = () => testWorld.runInProcess(async () => run(app, world));
  try {
    const ended = await attempt();
    if (!ended && runAgain) await attempt();
    await running.advance(finishWithin);
    return { outcome: await check(app, world), commits, crash };
  } catch (error) {
    throw scenarioFailed(error, crash);
  }
}

/** The world may hold more than options, which `createTestApp` would refuse. */
function optionsOf(world: CrashWorld): CrashWorld {
  const known = Object.entries(world).filter(([field]) => TEST_APP_FIELDS.includes(field));
  return Object.fromEntries(known) as unknown as CrashWorld;
}

function checkScenario(scenario: unknown, options: unknown): void {
  const { setUp, run, check } = (scenario ?? {}) as Record<string, unknown>;
  const { maxRuns = 1000 } = (options ?? {}) as Record<string, unknown>;
  if (![setUp, run, check].every((part) => typeof part === "function")) {
    throw new InvalidInputError("options.invalid", "exploreCrashes takes { setUp, run, check }.");
  }
  if (typeof maxRuns === "number" && maxRuns >= 1) return;
  throw new InvalidInputError("options.invalid", "maxRuns must be a whole number above zero.");
}

function scenarioFailed(error: unknown, { commit, when, during }: CrashPoint): PerdureError {
  const where = when === "never" ? "without a crash" : `with a crash ${when} commit ${commit} (${during})`;
  return new PerdureError("testing.scenario_failed", `The scenario threw ${where}: ${describeError(error).message}`, {
    cause: error,
  });
}
