/** The results of a run of the tests, and what two runs together say about a test. */

export interface TestResult {
  /** Its title, after the titles of the suites around it. */
  readonly name: string;
  readonly state: "passed" | "failed" | "skipped" | "pending";
  /** Its errors and everything it wrote to the console. */
  readonly output: string;
}

export interface FileResult {
  readonly project: string;
  /** Its path from the root of the repository. */
  readonly file: string;
  /** Errors outside tests: the file didn't load, or a hook of a suite failed. */
  readonly errors: readonly string[];
  readonly tests: readonly TestResult[];
}

export interface RunResults {
  readonly files: readonly FileResult[];
  /** Errors that belong to no file. */
  readonly errors: readonly string[];
}

/** The files of one project that have to run again. */
export interface Rerun {
  readonly project: string;
  readonly files: readonly string[];
}

export interface Defect {
  readonly project: string;
  readonly file: string;
  /** Empty if the defect is outside the file's tests. */
  readonly name: string;
  /** The output of the first failure. */
  readonly output: string;
}

export interface Summary {
  readonly passed: number;
  readonly failed: readonly Defect[];
  /** Failed in one run and passed in the other. */
  readonly flaky: readonly Defect[];
}

/** How a test, or a file outside its tests, ended in each run. */
interface Endings extends Defect {
  readonly isTest: boolean;
  readonly passed: boolean;
  readonly failed: boolean;
}

/** The files with a failure, by project: the same file can be a test of several projects, which run it differently. */
export function toReruns(first: RunResults): Rerun[] {
  const failed = Map.groupBy(first.files.filter(hasFailed), ({ project }) => project);
  return [...failed].map(([project, files]) => ({ project, files: files.map(({ file }) => file) }));
}

/**
 * A test has passed if it passed once, and is flaky if it also failed once. A file with errors outside its tests counts as one
 * failed test, and so does an error that belongs to no file. A test that failed in one run and wasn't run in the other has
 * failed.
 */
export function summarize(first: RunResults, again: readonly RunResults[]): Summary {
  const endings = new Map<string, Endings>();
  for (const run of [first, ...again]) {
    for (const file of run.files) for (const [key, ending] of endingsOf(file)) add(endings, key, ending);
  }
  const all = [...endings.values()];
  return {
    passed: all.filter(({ isTest, passed }) => isTest && passed).length,
    failed: [
      ...all.filter(({ passed, failed }) => failed && !passed),
      ...[first, ...again].flatMap(({ errors }) =>
        errors.map((output) => ({ project: "", file: "", name: "", output })),
      ),
    ],
    flaky: all.filter(({ passed, failed }) => failed && passed),
  };
}

function hasFailed({ errors, tests }: FileResult): boolean {
  return errors.length > 0 || tests.some(({ state }) => state === "failed");
}

function endingsOf({ project, file, errors, tests }: FileResult): [string, Endings][] {
  const failed = errors.length > 0;
  const outside = { project, file, name: "", isTest: false, passed: !failed, failed, output: errors.join("\n") };
  const seen = new Map<string, number>();
  return [
    [JSON.stringify([project, file]), outside],
    ...tests.map(({ name, state, output }): [string, Endings] => {
      const nth = (seen.get(name) ?? 0) + 1;
      seen.set(name, nth);
      const ending = {
        project,
        file,
        name,
        isTest: true,
        passed: state === "passed",
        failed: state === "failed",
        output,
      };
      return [JSON.stringify([project, file, name, nth]), ending];
    }),
  ];
}

function add(endings: Map<string, Endings>, key: string, now: Endings): void {
  const before = endings.get(key);
  if (before === undefined) endings.set(key, now);
  else {
    const output = before.failed ? before.output : now.output;
    endings.set(key, { ...now, output, passed: before.passed || now.passed, failed: before.failed || now.failed });
  }
}
