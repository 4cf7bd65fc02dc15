/**
 * Prints the tests that failed and those that are flaky, with the output of their first failure, then the number of flaky
 * tests, and last how many tests passed and failed. A run without results counts as one failed test.
 *
 *     TEST_RESULTS=… node scripts/summarize-tests.ts
 */
import { readResults } from "./results-files.ts";
import { type Defect, type Summary, summarize } from "./test-results.ts";

const MOST_OUTPUT = 2000;

const { passed, failed, flaky } = read();
for (const defect of failed) print("FAILED", defect);
for (const defect of flaky) print("FLAKY", defect);
console.log(`\n${flaky.length} flaky\n${passed} passed, ${failed.length} failed`);

function read(): Summary {
  try {
    const { first, again } = readResults(process.env["TEST_RESULTS"] ?? "");
    return summarize(first, again);
  } catch (error) {
    const output = `The tests left no results: ${error}`;
    return { passed: 0, failed: [{ project: "", file: "", name: "", output }], flaky: [] };
  }
}

function print(kind: string, { project, file, name, output }: Defect): void {
  const where = [project, file, name].filter((part) => part !== "").join(" > ");
  console.log(`\n${kind} ${where || "the run"}\n${output.slice(0, MOST_OUTPUT)}`);
}
