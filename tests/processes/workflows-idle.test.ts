import { describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { idsOf, useWorkflowGroup } from "../support/workflow-group.ts";

const HOUR = { timeout: "3600 seconds", times: 1 };
const PAUSED = 50;
const NAPS = 10;
/** For polls that happen to fall into the time, and for a renewal or two. */
const MOST_MORE = 20;
/** SQLite is asked whether another process has written, whenever the file changes. */
const LOOK = "pragma data_version";

describe.each(ENGINES)("a process with paused, waiting and finished instances ($name)", (engine) => {
  const group = useWorkflowGroup();

  test("asks the database nothing because of them", async () => {
    await group.open(engine);
    const runner = await group.start({ worker: { concurrency: 100 }, countStatements: true });
    const countWhileNapping = async (number: number) => {
      await runner.request({ do: "statements" });
      await group.create("naps", [`naps-${number}`], NAPS);
      await group.finished("naps", number);
      const statements = (await runner.request({ do: "statements" })) as string[];
      return statements.filter((text) => text !== LOOK).length;
    };
    await countWhileNapping(1); // what is asked only once in the life of a process
    const alone = await countWhileNapping(2);

    const paused = idsOf("paused", PAUSED);
    await group.create("wait", paused, HOUR);
    await group.create("wait", idsOf("waiting", PAUSED), HOUR);
    await group.create("hold", idsOf("held", PAUSED));
    await group.create("steps", idsOf("done", PAUSED), 1);
    for (const id of paused) await group.until("wait", id, "waiting");
    for (const id of idsOf("held", PAUSED)) {
      await runner.seen("began", id, "held");
      await (await group.app.workflows.hold.get(id)).pause();
    }
    for (const id of paused) {
      const instance = await group.app.workflows.wait.get(id);
      await instance.pause();
      await instance.sendEvent({ type: "go" }); // due as soon as it is resumed, and not before
    }
    await runner.request({ do: "open" });
    for (const id of idsOf("held", PAUSED)) await group.until("hold", id, "paused");
    await group.finished("steps", PAUSED);

    expect(alone).toBeGreaterThanOrEqual(NAPS);
    expect(await countWhileNapping(3)).toBeLessThanOrEqual(alone + MOST_MORE);
    for (const id of paused) expect(await group.status("wait", id)).toBe("paused");
    expect(runner.began.filter(({ step }) => step === "last")).toEqual([]);
  });
});
