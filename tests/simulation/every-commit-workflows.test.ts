import { describe, expect, test } from "vitest";
import { ALL_PROGRAM_NAMES, type ProgramName } from "../../simulation/names.ts";
import type { Moment } from "../../simulation/simulation-options.ts";
import { outcomeOf, play } from "./support/play.ts";

/** Just before the commit, and just after it, before its sender knows. */
const MOMENTS: readonly Moment[] = ["arrived", "done"];

/** Those that end their processes themselves, and those whose steps may begin only once, whatever happens. */
const OTHERS: readonly ProgramName[] = ["fatal", "exact"];

describe("a simulated workflow", () => {
  test.each(ALL_PROGRAM_NAMES.filter((name) => !OTHERS.includes(name)))(
    "that is %s comes out the same, whichever commit its process ends at",
    async (program) => {
      const undisturbed = await play({ program });
      expect(undisturbed.violation).toBeNull();
      expect(undisturbed.commits).toBeGreaterThan(1);
      const expected = outcomeOf(undisturbed);
      for (let crash = 1; crash <= undisturbed.commits; crash++) {
        for (const moment of MOMENTS) {
          const result = await play({
            program,
            atCommit: (commit, now, { owner }) => {
              if (commit === crash && now === moment) owner.kill(`when commit ${crash} had ${moment}`);
            },
          });
          const where = `ended when commit ${crash} had ${moment}\n${result.trace.slice(-60).join("\n")}`;
          expect(result.violation, where).toBeNull();
          expect(outcomeOf(result), where).toBe(expected);
        }
      }
    },
  );
});
