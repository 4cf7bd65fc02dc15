import { withDeadline } from "../harness/deadline.ts";
import { type Failure, reasonOf } from "../harness/failure.ts";
import { progress } from "../harness/progress.ts";
import type { Contender } from "./contender.ts";
import type { Databases } from "./databases.ts";
import type { Scale } from "./scale.ts";
import type { Work } from "./work.ts";

const DEADLINE_MILLISECONDS = 120_000;

/** What one contender did: the figures of each round, or why there are none. */
export interface Runs {
  readonly contender: Contender;
  readonly rounds: (readonly number[])[];
  failure?: Failure;
}

/** Measures one work on one engine: round by round, and in each round everybody in turn, so that noise hits all alike. */
export async function measure(
  work: Work,
  contenders: readonly Contender[],
  databases: Databases,
  scale: Scale,
): Promise<Runs[]> {
  const everybody = contenders.map((contender): Runs => ({ contender, rounds: [] }));
  if (work.together) {
    await Promise.all(everybody.map((runs) => addRound(runs, work, databases, scale)));
    return everybody;
  }
  for (let round = 0; round < scale.rounds; round++) {
    for (const runs of everybody) await addRound(runs, work, databases, scale);
  }
  return everybody;
}

async function addRound(runs: Runs, work: Work, databases: Databases, scale: Scale): Promise<void> {
  if (runs.failure !== undefined) return;
  const { name, engine } = runs.contender;
  try {
    await using database = await databases.create();
    const running = work.run(runs.contender, database.address, scale);
    const figures = await withDeadline(running, DEADLINE_MILLISECONDS, work.name);
    runs.rounds.push(figures);
    progress(`  ${name}: ${figures.map((figure) => figure.toFixed(2)).join(", ")} ${work.figures[0]?.unit}`);
  } catch (error) {
    runs.failure = { contender: name, engine, work: work.name, reason: reasonOf(error) };
    progress(`  ${name} FAILED: ${runs.failure.reason}`);
  }
}
