import { availableParallelism, cpus } from "node:os";
import type { Contender } from "./contender.ts";
import { openDatabases } from "./databases.ts";
import { type Failure, failureLines } from "./failure.ts";
import { jsonReport } from "./json-report.ts";
import { measure } from "./measure.ts";
import { type Options, parseOptions } from "./options.ts";
import { progress } from "./progress.ts";
import type { Result } from "./result.ts";
import { summarise } from "./summarise.ts";
import { tableReport } from "./table-report.ts";
import type { Work } from "./work.ts";

export interface Suite<Contestant extends Contender, Scale extends { readonly rounds: number }> {
  readonly contenders: readonly Contestant[];
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
  const scale = options.short ? suite.short : suite.full;
  const results: Result[] = [];
  const failures: Failure[] = [];
  const descriptions: string[] = [];
  let valid = true;

  for (const engine of options.engines) {
    await using databases = await openDatabases(engine);
    descriptions.push(databases.description);
    for (const work of options.works.filter(({ engines }) => engines.includes(engine))) {
      progress(`${work.name}, ${engine}`);
      const contenders = suite.contenders.filter(
        (one) => one.engine === engine && (one.works?.includes(work.name) ?? true),
      );
      const everybody = await measure(work, contenders, databases, scale);
      results.push(...summarise(work.figures, engine, everybody));
      for (const { contender, failure } of everybody) {
        if (failure === undefined) continue;
        failures.push(failure);
        if (contender.role !== "peer") valid = false;
      }
    }
  }

  const report = options.json
    ? jsonReport(results)
    : tableReport(results, settings(suite, options, scale, descriptions));
  process.stdout.write(`${report}\n`);
  for (const line of failureLines(failures)) progress(`FAILED ${line}`);
  return valid;
}

/** Everything that a reader needs to repeat the figures, or to doubt them. */
function settings<Contestant extends Contender, Scale extends { readonly rounds: number }>(
  suite: Suite<Contestant, Scale>,
  options: Options<Work<Contestant, Scale>>,
  scale: Scale,
  descriptions: readonly string[],
): string[] {
  const contenders = suite.contenders.filter(({ engine }) => options.engines.includes(engine));
  return [
    `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"}), one process`,
    ...descriptions,
    ...contenders.map((contender) => `${contender.name}, ${contender.engine}: ${contender.settings}`),
    ...options.works.map((work) => `${work.name}: ${work.method(scale)}`),
    `each figure is the median of ${scale.rounds} round(s), each on a fresh database`,
  ];
}
