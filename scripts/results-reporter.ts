/** A reporter of vitest that writes the results of a run, with the project of each file, to the file named by TEST_RESULTS. */
import { writeFileSync } from "node:fs";
import type { UserConsoleLog } from "vitest";
import type { Reporter, SerializedError, TestCase, TestModule } from "vitest/node";
import type { FileResult, RunResults, TestResult } from "./test-results.ts";

export default class ResultsReporter implements Reporter {
  /** By the id of the test that wrote it. */
  readonly #written = new Map<string, string>();

  onUserConsoleLog({ taskId, content }: UserConsoleLog): void {
    if (taskId !== undefined) this.#written.set(taskId, (this.#written.get(taskId) ?? "") + content);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const path = process.env["TEST_RESULTS"];
    if (path === undefined) throw new Error("TEST_RESULTS must name the file to write the results to.");
    const results: RunResults = { files: modules.map((module) => this.#toFile(module)), errors: unhandled.map(toText) };
    writeFileSync(path, JSON.stringify(results));
  }

  #toFile(module: TestModule): FileResult {
    const suites = [...module.children.allSuites()];
    return {
      project: module.project.name,
      file: module.relativeModuleId,
      errors: [module, ...suites].flatMap((one) => one.errors().map(toText)),
      tests: [...module.children.allTests()].map((test) => this.#toTest(test)),
    };
  }

  #toTest(test: TestCase): TestResult {
    const { state, errors = [] } = test.result();
    const output =
      state === "failed" ? [...errors.map(toText), this.#written.get(test.id) ?? ""].join("\n").trimEnd() : "";
    return { name: test.fullName, state, output };
  }
}

function toText({ stack, message, name, diff }: SerializedError): string {
  return [stack ?? `${name ?? "Error"}: ${message}`, diff ?? ""].join("\n").trimEnd();
}
