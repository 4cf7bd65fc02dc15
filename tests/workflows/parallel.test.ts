import { describe, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { PROGRAMS } from "./support/programs.ts";
import { replayEverywhere } from "./support/replays.ts";
import { useWorkflows } from "./support/use-workflows.ts";

describe.each(ENGINES)("a process that is lost at any point on $name", (engine) => {
  const subject = useWorkflows(engine);

  test.each(PROGRAMS)("leaves no trace in $title", async (program) => {
    await replayEverywhere(subject, program);
  });
});
