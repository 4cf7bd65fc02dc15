import { loadavg } from "node:os";
import type { Contender } from "./contender.ts";
import { openDatabases } from "./databases.ts";
import { measure } from "./measure.ts";
import { parseOptions } from "./options.ts";
import { progress } from "./progress.ts";
import type { Failure } from "./report/failure.ts";
import { publish } from "./report/publish.ts";
import type { Result } from "./report/result.ts";
import { summarise } from "./report/summarise.ts";
import { describeMachine, versionsOf } from "./report/versions.ts";
import { UsageError } from "./usage-error.ts";
import type { Work } from "./work.ts";

export interface Suite<Contestant extends Contender, Scale extends { readonly rounds: number }> {
  readonly name: string;
  readonly contenders: readonly Contestant[];
  /** The peers with other settings than those that they are compared with, for `--sweep`. */
  readonly variants?: readonly Contestant[];
  readonly works: readonly Work<Contestant, Scale>[];
  readonly full: Scale;
  /** Good enough to see that everything works. */
  readonly short: Scale;
}

/** Runs a suite and prints its report. False if ours or a floor failed: then the comparison is void. */
export async function runSuite<Contestant extends Contender, Scale extends { readonly rounds: number }>(
  suite: Suite<Contestant, Scale>,
  argv: string[],
): Promise<boolean> {
  const options = parseOptions(argv, suite.works);
  const { variants = [] } = suite;
  if (options.sweep && variants.length === 0) {
    throw new UsageError(`"${suite.name}" has no settings to sweep`, "--sweep for hooks and workflows");
  }
  const entrants = (options.sweep ? variants : suite.contenders).filter(({ engine }) =>
    options.engines.includes(engine),
  );
  const defaults = options.short ? suite.short : suite.full;
  const scale = { ...defaults, rounds: options.rounds ?? defaults.rounds };
  const results: Result[] = [];
  const failures: Failure[] = [];
  const descriptions: string[] = [];
  const measured = new Set<Work<Contestant, Scale>>();
  let valid = true;

  for (const engine of options.engines) {
    await using databases = await openDatabases(engine);
    descriptions.push(databases.description);
    for (const work of options.works.filter(({ engines }) => engines.includes(engine))) {
      const contenders = entrants.filter((one) => one.engine === engine && (one.works?.includes(work.name) ?? true));
      if (contenders.length === 0) continue;
      measured.add(work);
      progress(`${work.name}, ${engine}`);
      const everybody = await measure(work, contenders, databases, scale);
      results.push(...summarise(work.figures, engine, everybody));
      for (const { contender, failure } of everybody) {
        if (failure === undefined) continue;
        failures.push(failure);
        if (contender.role !== "peer") valid = false;
      }
    }
  }

  await publish(
    {
      suite: suite.name,
      results,
      versions: versionsOf(entrants),
      settings: settings(entrants, [...measured], scale, descriptions),
      failures,
    },
    options,
  );
  return valid;
}

/** Everything that a reader needs to repeat the figures, or to doubt them. */
function settings<Contestant extends Contender, Scale extends { readonly rounds: number }>(
  contenders: readonly Contestant[],
  works: readonly Work<Contestant, Scale>[],
  scale: Scale,
  descriptions: readonly string[],
): string[] {
  return [
    `${describeMachine()}, load ${loadavg()[0]?.toFixed(1)} at the end; one process unless stated otherwise`,
    ...descriptions,
    ...contenders.map((contender) => `${contender.name}, ${contender.engine}: ${contender.settings}`),
    ...works.map((work) => `${work.name}: ${work.method(scale)}`),
    `each figure is the median of ${scale.rounds} round(s), each on a fresh database`,
  ];
}
