import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { DIFFERENCES, SHOWN_DIFFERENTLY } from "./differences.ts";
import { NodeRunner } from "./node-runner.ts";
import type { Program } from "./program.ts";
import { PROGRAMS } from "./programs/index.ts";
import { type Runner, runProgram } from "./run-program.ts";
import { WorkerRunner } from "./worker-runner.ts";

const RUNNERS: readonly { readonly name: string; readonly start: () => Promise<Runner> }[] = [
  ...ENGINES.filter(({ name }) => name === "node:sqlite" || name === "postgres").map((engine) => ({
    name: engine.name as string,
    start: () => NodeRunner.start(engine),
  })),
  { name: "a Durable Object", start: () => WorkerRunner.object() },
];

const theirs = new Map<string, Promise<object>>();

/** All at once: most of what they do is to wait. */
function runAll(runner: Runner): Map<string, Promise<object>> {
  return new Map(
    PROGRAMS.map((program: Program) => {
      const outcome = runProgram(runner, program);
      outcome.catch(() => {}); // told by the test that waits for it
      return [program.name, outcome];
    }),
  );
}

describe.each(RUNNERS)("workflows on $name and on Cloudflare's engine", ({ start }) => {
  let oracle: Runner | undefined;
  let runner: Runner | undefined;
  let ours = new Map<string, Promise<object>>();

  beforeAll(async () => {
    if (theirs.size === 0) {
      oracle = await WorkerRunner.oracle();
      for (const [name, outcome] of runAll(oracle)) theirs.set(name, outcome);
    }
    runner = await start();
    ours = runAll(runner);
  });

  afterAll(async () => {
    await Promise.allSettled([...theirs.values(), ...ours.values()]);
    await runner?.close();
    await oracle?.close();
  });

  test.each(PROGRAMS)("have the same results: $name", async ({ name }) => {
    const [our, their] = [await ours.get(name), await theirs.get(name)];
    const difference = DIFFERENCES[name];
    if (difference !== undefined) {
      expect(their).toMatchObject(difference.theirs);
      expect(our).toMatchObject(difference.ours);
    } else if (SHOWN_DIFFERENTLY.includes(name)) {
      expect({ ...our, steps: [] }).toEqual({ ...their, steps: [] });
    } else {
      expect(our).toEqual(their);
    }
  });
});

test("every difference belongs to a program that exists", () => {
  const names = PROGRAMS.map(({ name }) => name);
  expect(Object.keys(DIFFERENCES).filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});
