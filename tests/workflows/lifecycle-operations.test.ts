import { describe, expect, test } from "vitest";
import type { WorkflowInstance } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes } from "./support/sample.ts";
import { SITUATIONS, type Situation } from "./support/situations.ts";
import { eventually, useWorkflows } from "./support/use-workflows.ts";

const UNFINISHED = ["queued", "running", "waiting", "waitingForPause", "paused", "rollingBack"];
const REFUSED = "instance.finished";
const GONE = "instance.not_found";

type Operation = "pause" | "resume" | "terminate" | "rollBack" | "restart" | "delete" | "sendEvent";
type State = Pick<Situation, "status" | "live" | "attended" | "undoing">;

/**
 * What an operation comes to: the status afterwards, or the code of its refusal. The same table is in
 * docs/internals/instance-states.md.
 */
const EXPECTED: Record<Operation, (state: State) => string> = {
  pause: ({ status, live }) => {
    if (status === "waitingForPause" || status === "paused") return status;
    if (!UNFINISHED.includes(status)) return REFUSED;
    return live && status !== "waiting" ? "waitingForPause" : "paused";
  },
  resume: ({ status, attended, undoing }) => {
    if (!UNFINISHED.includes(status)) return REFUSED;
    if (undoing) return "rollingBack";
    if (status === "waitingForPause") return "running";
    if (status === "paused") return attended ? "waiting" : "queued";
    return status;
  },
  terminate: ({ status }) => (UNFINISHED.includes(status) ? "terminated" : REFUSED),
  rollBack: ({ status, undoing }) => {
    if (!UNFINISHED.includes(status)) return REFUSED;
    return undoing ? status : "terminated"; // nothing of it has a rollback, so that it is over at once
  },
  restart: ({ attended }) => (attended ? "complete" : "queued"),
  delete: () => GONE,
  sendEvent: ({ status }) => (UNFINISHED.includes(status) ? status : REFUSED),
};
const OPERATIONS = Object.keys(EXPECTED) as Operation[];

const CASES = SITUATIONS.flatMap((situation) =>
  OPERATIONS.map((operation) => ({ ...situation, operation, expected: EXPECTED[operation](situation) })),
);

describe.each(ENGINES)("operations on instances on $name", (engine) => {
  const subject = useWorkflows(engine);

  describe.each(["the process that has it", "another process"])("by %s", (who) => {
    test.each(CASES)("$operation of one $situation ($status): $expected", async ({ operation, expected, enter }) => {
      const { sample, instance, runner } = await enter(subject);
      const own = who === "the process that has it";
      const operator = own ? runner : subject.process({ sample: sample.workflow });
      const handle = await operator.workflows.sample.get("one");
      const before = await instance.status();
      sample.easy = operation === "restart";

      const call = act(handle, operation);
      if (expected === REFUSED) {
        await expect(call).rejects.toMatchObject({ name: "ConflictError", code: REFUSED });
        expect(await instance.status()).toEqual(before);
        return;
      }
      await call;
      if (expected === GONE) {
        await expect(instance.status()).rejects.toMatchObject({ name: "NotFoundError", code: GONE });
        await expect(handle.history()).rejects.toMatchObject({ code: GONE });
        return;
      }
      if (!own)
        for (const process of [runner])
          await process.clock.advanceAndSettle(operation === "pause" || operation === "rollBack" ? 3000 : 0);
      await becomes(instance, expected);
      expect((await instance.status()).run).toBe(operation === "restart" ? 2 : 1);
    });
  });

  test.each(OPERATIONS)("%s where there is nothing is refused", async (operation) => {
    const { sample, instance } = await (SITUATIONS[0] as (typeof SITUATIONS)[number]).enter(subject);
    await instance.delete();
    const call = act(instance, operation);

    await expect(call).rejects.toMatchObject({ name: "NotFoundError", code: GONE });
    expect(sample.began).toEqual([]);
  });

  test("a restart of an instance that no process can run waits for one that can", async () => {
    const { instance, sample } = await (SITUATIONS[0] as (typeof SITUATIONS)[number]).enter(subject);
    await instance.restart();
    const worker = subject.start({ sample: sample.workflow });

    await expect((await worker.workflows.sample.get("one")).result()).resolves.toBe("complete");
    expect(await instance.status()).toMatchObject({ status: "complete", run: 2 });
    await eventually(() => expect(sample.began).toEqual(["after"]));
  });
});

function act(instance: WorkflowInstance, operation: Operation): Promise<void> {
  if (operation === "sendEvent") return instance.sendEvent({ type: "other" });
  return operation === "rollBack" ? instance.terminate({ rollback: true }) : instance[operation]();
}
