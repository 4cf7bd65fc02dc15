import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resultsOfRerun } from "../../scripts/results-files.ts";
import { type FileResult, type RunResults, summarize, type TestResult, toReruns } from "../../scripts/test-results.ts";

const passed = (name: string): TestResult => ({ name, state: "passed", output: "" });
const failed = (name: string, output = `${name} failed`): TestResult => ({ name, state: "failed", output });
const file = (name: string, tests: readonly TestResult[], project = "node", errors: string[] = []): FileResult => {
  return { project, file: name, errors, tests };
};
const run = (...files: FileResult[]): RunResults => ({ files, errors: [] });

describe("a rerun", () => {
  test("names the failed files with their project", () => {
    const first = run(
      file("hooks.test.ts", [passed("a"), failed("b")], "engines"),
      file("hooks.test.ts", [passed("a"), passed("b")], "workerd"),
      file("steps.test.ts", [failed("c")], "workerd"),
      file("broken.test.ts", [], "workerd", ["SyntaxError"]),
      file("good.test.ts", [passed("d")], "engines"),
    );
    expect(toReruns(first)).toEqual([
      { project: "engines", files: ["hooks.test.ts"] },
      { project: "workerd", files: ["steps.test.ts", "broken.test.ts"] },
    ]);
  });
});

describe("a test", () => {
  test("that fails and then passes is flaky, counts as passed, and keeps its first output", () => {
    const first = run(file("a.test.ts", [passed("a"), failed("b", "lost a race")]), file("b.test.ts", [passed("c")]));
    const again = run(file("a.test.ts", [passed("a"), passed("b")]));
    expect(summarize(first, [again])).toMatchObject({
      passed: 3,
      failed: [],
      flaky: [{ project: "node", file: "a.test.ts", name: "b", output: "lost a race" }],
    });
  });

  test("that passes and fails when its file runs again is flaky", () => {
    const first = run(file("a.test.ts", [passed("a"), failed("b")]));
    const again = run(file("a.test.ts", [failed("a", "too late"), passed("b")]));
    const { passed: count, failed: broken, flaky } = summarize(first, [again]);
    expect([count, broken]).toEqual([2, []]);
    expect(flaky).toMatchObject([
      { name: "a", output: "too late" },
      { name: "b", output: "b failed" },
    ]);
  });

  test("that fails twice has failed, with its first output", () => {
    const first = run(file("a.test.ts", [failed("a", "first")]));
    const again = run(file("a.test.ts", [failed("a", "second")]));
    expect(summarize(first, [again])).toMatchObject({ passed: 0, failed: [{ name: "a", output: "first" }], flaky: [] });
  });

  test("that fails and isn't run again has failed", () => {
    const first = run(file("a.test.ts", [failed("a")]));
    expect(summarize(first, [])).toMatchObject({ passed: 0, failed: [{ name: "a" }], flaky: [] });
    const unloaded = run(file("a.test.ts", [], "node", ["SyntaxError"]));
    expect(summarize(first, [unloaded]).failed).toMatchObject([{ name: "a" }]);
  });

  test("is told apart from the same test of another project, and from another of the same name", () => {
    const first = run(
      file("a.test.ts", [failed("a"), failed("a")], "engines"),
      file("a.test.ts", [failed("a")], "workerd"),
    );
    const engines = run(file("a.test.ts", [passed("a"), failed("a")], "engines"));
    const workerd = run(file("a.test.ts", [failed("a")], "workerd"));
    const summary = summarize(first, [engines, workerd]);
    expect(summary).toMatchObject({ passed: 1, failed: [{ project: "engines" }, { project: "workerd" }] });
    expect(summary.flaky).toMatchObject([{ project: "engines", name: "a" }]);
  });

  test("that is skipped is neither passed nor failed", () => {
    const skipped: TestResult = { name: "a", state: "skipped", output: "" };
    expect(summarize(run(file("a.test.ts", [skipped])), [])).toEqual({ passed: 0, failed: [], flaky: [] });
  });
});

describe("a file", () => {
  const broken = run(file("a.test.ts", [], "node", ["SyntaxError: no such export"]));

  test("that doesn't load counts as one failed test", () => {
    const failure = { project: "node", file: "a.test.ts", name: "", output: "SyntaxError: no such export" };
    expect(summarize(broken, [])).toMatchObject({ passed: 0, failed: [failure] });
    expect(summarize(broken, [broken])).toMatchObject({ passed: 0, failed: [failure] });
  });

  test("that loads the second time is flaky, and its tests count", () => {
    const again = run(file("a.test.ts", [passed("a"), passed("b")]));
    expect(summarize(broken, [again])).toMatchObject({ passed: 2, failed: [], flaky: [{ name: "" }] });
  });
});

describe("the summary of .ci/run", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "perdure-results-"));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const print = (path: string) => {
    const env = { ...process.env, TEST_RESULTS: path };
    return spawnSync(process.execPath, ["scripts/summarize-tests.ts"], { env, encoding: "utf8" }).stdout;
  };

  test("prints flaky and failed tests with their output, and ends with the counts", () => {
    const path = join(folder, "first.json");
    const first = run(
      file("a.test.ts", [failed("a", "lost a race"), failed("b", "wrong")]),
      file("c.test.ts", [passed("c")]),
    );
    const again = run(file("a.test.ts", [passed("a"), failed("b", "wrong again")]));
    writeFileSync(path, JSON.stringify({ ...first, errors: ["unhandled rejection"] }));
    writeFileSync(resultsOfRerun(path, "node"), JSON.stringify(again));
    const printed = print(path);
    expect(printed).toContain("FLAKY node > a.test.ts > a\nlost a race\n");
    expect(printed).toContain("FAILED node > a.test.ts > b\nwrong\n");
    expect(printed).toContain("FAILED the run\nunhandled rejection\n");
    expect(printed.endsWith("\n1 flaky\n2 passed, 2 failed\n")).toBe(true);
  });

  test("counts a run without results as one failed test", () => {
    expect(print(join(folder, "missing.json")).endsWith("\n0 flaky\n0 passed, 1 failed\n")).toBe(true);
  });
});
