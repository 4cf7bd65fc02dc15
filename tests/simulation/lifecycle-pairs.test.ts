import { describe, expect, test } from "vitest";
import { LIFECYCLE_OPERATIONS } from "../../simulation/books/lifecycle-book.ts";
import type { SimulatedProcess } from "../../simulation/machines/simulated-process.ts";
import type { Moment } from "../../simulation/simulation-options.ts";
import { operate, sendEvent } from "../../simulation/workloads/instance-calls.ts";
import { play, SAMPLE } from "./support/play.ts";

const OPERATIONS = ["event", ...LIFECYCLE_OPERATIONS] as const;
type Operation = (typeof OPERATIONS)[number];

const PROGRAM = "listening";

/** When the first and the second happen, as a commit goes its way. */
const PLACES: readonly (readonly [Moment, Moment])[] = [
  ["arrived", "arrived"],
  ["arrived", "done"],
  ["done", "done"],
  ["answered", "answered"],
];

/** Who does the first and the second: another process, or the one that runs the instance. They take turns. */
const ACTORS = [
  ["client", "client"],
  ["owner", "owner"],
  ["client", "owner"],
  ["owner", "client"],
] as const;

const PAIRS = OPERATIONS.flatMap((first) => OPERATIONS.map((second) => [first, second] as const));

describe("a simulated workflow", () => {
  test.each(PAIRS)("keeps its promises with %s and %s before, during and after each commit", async (first, second) => {
    const { commits } = await play({ program: PROGRAM });
    expect(commits).toBeGreaterThan(4);
    for (let at = 1; at <= commits; at++) {
      for (const [turn, places] of PLACES.entries()) {
        const actors = ACTORS[(at + turn) % ACTORS.length] ?? ACTORS[0];
        let done = 0;
        const { violation, trace } = await play({
          program: PROGRAM,
          atCommit: async (commit, moment, stage) => {
            if (commit !== at) return;
            for (const [index, operation] of [first, second].entries()) {
              if (places[index] !== moment) continue;
              done++;
              await act(stage[actors[index] ?? "client"], operation);
            }
          },
        });
        const where = `at commit ${at}, ${places.join(" and ")}, by ${actors.join(" and ")}\n${trace.slice(-60).join("\n")}`;
        expect(violation, where).toBeNull();
        expect(done, where).toBe(2);
      }
    }
  });
});

function act(process: SimulatedProcess, operation: Operation): Promise<void> {
  const name = { name: PROGRAM, ...SAMPLE };
  return operation === "event" ? sendEvent(process, name, { type: "approved" }) : operate(process, name, operation);
}
