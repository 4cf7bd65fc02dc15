import { describe, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { replayEverywhere } from "./support/replays.ts";
import { useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("a name that is used inside a step and after it, on $name", (engine) => {
  const subject = useWorkflows(engine);

  test("means another step after a replay too", async () => {
    await replayEverywhere(subject, {
      title: "one name inside a step and after it",
      run: async (step, notes) => {
        const outer = await step.do("outer", () => step.do("same", () => "inner"));
        const after = await step.do("same", () => "after");
        notes.note(`${outer} ${after}`);
        return step.do("end", () => [outer, after]);
      },
    });
  });
});
