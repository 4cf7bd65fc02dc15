import { writeFile } from "node:fs/promises";
import { progress } from "../progress.ts";
import { drawChart } from "./chart.ts";
import { type Failure, failureLines } from "./failure.ts";
import { jsonReport } from "./json-report.ts";
import type { Result } from "./result.ts";
import { tableReport } from "./table-report.ts";

/** The results of a suite. */
export interface Report {
  readonly suite: string;
  readonly results: readonly Result[];
  /** Of the packages that took part, by name. */
  readonly versions: Readonly<Record<string, string>>;
  /** Everything else that a reader needs to repeat the figures, or to doubt them. */
  readonly settings: readonly string[];
  readonly failures: readonly Failure[];
}

export interface Format {
  readonly json: boolean;
  /** The file to write a chart to. */
  readonly chart?: string | undefined;
}

/** Prints the report. Failures go to the standard error, so that the standard output has nothing else. */
export async function publish(report: Report, { json, chart }: Format): Promise<void> {
  process.stdout.write(`${json ? jsonReport(report) : tableReport(report)}\n`);
  for (const line of failureLines(report.failures)) progress(`FAILED ${line}`);
  if (chart === undefined) return;
  await writeFile(chart, drawChart(report.suite, report.results));
  progress(`The chart is in ${chart}.`);
}
