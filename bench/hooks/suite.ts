import { availableParallelism, cpus } from "node:os";
import { type Failure, failureLines } from "../harness/failure.ts";
import { jsonReport } from "../harness/json-report.ts";
import { progress } from "../harness/progress.ts";
import type { Result } from "../harness/result.ts";
import { tableReport } from "../harness/table-report.ts";
import { CONTENDERS } from "./contenders.ts";
import { openDatabases } from "./databases.ts";
import { measure } from "./measure.ts";
import { type Options, parseOptions } from "./options.ts";
import { FULL, type Scale, SHORT } from "./scale.ts";
import { summarise } from "./summarise.ts";

/** Runs the suite and prints its report. False if ours or a floor failed: then the comparison is void. */
export async function runHooksSuite(argv: string[]): Promise<boolean> {
  const options = parseOptions(argv);
  const scale = options.short ? SHORT : FULL;
  const results: Result[] = [];
  const failures: Failure[] = [];
  const descriptions: string[] = [];
  let valid = true;

  for (const engine of options.engines) {
    await using databases = await openDatabases(engine);
    descriptions.push(databases.description);
    for (const work of options.works.filter(({ engines }) => engines.includes(engine))) {
      progress(`${work.name}, ${engine}`);
      const contenders = CONTENDERS.filter((one) => one.engine === engine && (one.works?.includes(work.name) ?? true));
      const everybody = await measure(work, contenders, databases, scale);
      results.push(...summarise(work, engine, everybody));
      for (const { contender, failure } of everybody) {
        if (failure === undefined) continue;
        failures.push(failure);
        if (contender.role !== "peer") valid = false;
      }
    }
  }

  const report = options.json ? jsonReport(results) : tableReport(results, settings(options, scale, descriptions));
  process.stdout.write(`${report}\n`);
  for (const line of failureLines(failures)) progress(`FAILED ${line}`);
  return valid;
}

/** All that somebody needs to know to repeat the figures, or to doubt them. */
function settings(options: Options, scale: Scale, descriptions: readonly string[]): string[] {
  const contenders = CONTENDERS.filter(({ engine }) => options.engines.includes(engine));
  return [
    `Node ${process.version}, ${availableParallelism()} cores (${cpus()[0]?.model ?? "unknown"}), one process`,
    ...descriptions,
    ...contenders.map((contender) => `${contender.name}, ${contender.engine}: ${contender.settings}`),
    ...options.works.map((work) => `${work.name}: ${work.method(scale)}`),
    `each figure is the median of ${scale.rounds} round(s), each on a fresh database`,
  ];
}
