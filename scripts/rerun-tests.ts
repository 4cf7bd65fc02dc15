/**
 * Runs the files that failed in `npm test` once more, each in its project. Fails if a test failed both times, or if the first
 * run left no results. TEST_RESULTS names the results of the first run; those of the second are written beside them.
 *
 *     TEST_RESULTS=… node scripts/rerun-tests.ts
 */
import { spawnSync } from "node:child_process";
import { readResults, resultsOfRerun } from "./results-files.ts";
import { summarize, toReruns } from "./test-results.ts";

const path = process.env["TEST_RESULTS"] ?? "";
const { first } = readResults(path);
const reruns = toReruns(first);
for (const { project, files } of reruns) {
  console.log(`\nThe files of the project ${project} that failed run once more: ${files.join(" ")}`);
  const reporters = ["--reporter=default", "--reporter=./scripts/results-reporter.ts"];
  spawnSync("npm", ["test", "--", ...reporters, "--project", project, ...files], {
    stdio: "inherit",
    env: { ...process.env, TEST_RESULTS: resultsOfRerun(path, project) },
  });
}
const { again } = readResults(path);
// Without a file to run again, the run itself has failed.
process.exitCode = reruns.length > 0 && summarize(first, again).failed.length === 0 ? 0 : 1;
