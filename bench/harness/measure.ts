import type { Contender } from "./contender.ts";
import type { Databases } from "./databases.ts";
import { withDeadline } from "./deadline.ts";
import { progress } from "./progress.ts";
import { type Failure, reasonOf } from "./report/failure.ts";
import type { Work } from "./work.ts";

const DEADLINE_MILLISECONDS = 120_000;

/** What one contender did: the figures of each round, or why there are none. */
export interface Runs<Contestant extends Contender = Contender> {
  readonly contender: Contestant;
  readonly rounds: (readonly number[])[];
  failure?: Failure;
}

/**
 * Measures one work on one engine: round by round, and in each round every contender in turn, so that noise affects all alike.
 */
export async function measure<Contestant extends Contender, Scale extends { readonly rounds: number }>(
  work: Work<Contestant, Scale>,
  contenders: readonly Contestant[],
  databases: Databases,
  scale: Scale,
): Promise<Runs[]> {
  const everybody = contenders.map((contender): Runs<Contestant> => ({ contender, rounds: [] }));
  if (work.together) {
    await Promise.all(everybody.map((runs) => addRound(runs, work, databases, scale)));
    return everybody;
  }
  for (let round = 0; round < scale.rounds; round++) {
    for (const runs of everybody) await addRound(runs, work, databases, scale);
  }
  return everybody;
}

async function addRound<Contestant extends Contender, Scale>(
  runs: Runs<Contestant>,
  work: Work<Contestant, Scale>,
  databases: Databases,
  scale: Scale,
): Promise<void> {
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
