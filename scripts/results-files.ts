import { existsSync, readFileSync } from "node:fs";
import { type RunResults, toReruns } from "./test-results.ts";

/** Where the second run of the failed files of a project leaves its results. */
export function resultsOfRerun(path: string, project: string): string {
  return `${path}.${project}`;
}

/** Throws if the first run left no results. A second run that left none proves nothing, so it is left out. */
export function readResults(path: string): { readonly first: RunResults; readonly again: readonly RunResults[] } {
  const first = read(path);
  const paths = toReruns(first).map(({ project }) => resultsOfRerun(path, project));
  return { first, again: paths.filter((one) => existsSync(one)).map(read) };
}

function read(path: string): RunResults {
  return JSON.parse(readFileSync(path, "utf8"));
}
