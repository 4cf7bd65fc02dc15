import { afterEach, describe, expect, test, vi } from "vitest";
import { defineWorkflow } from "../../src/index.ts";
import type { InstanceCommit } from "../../src/store/instances/instance-records.ts";
import { ENGINES } from "../support/engines.ts";
import { becomes } from "./support/sample.ts";
import { useWorkflows, type WorkflowProcess } from "./support/use-workflows.ts";

/** No time passes: what is woken too early goes on only if its process is told that it is due. */
describe.each(ENGINES)(
  "instances that are woken before their process knows that they are parked, on $name,",
  (engine) => {
    const subject = useWorkflows(engine);

    afterEach(() => {
      vi.restoreAllMocks();
    });

    /** The database parks the first instance that is to be parked, but its answer takes until it is let through. */
    function holdAnswer({ store }: WorkflowProcess<never>): { parked: Promise<void>; letThrough: () => void } {
      const { statements } = store.instances;
      const original = statements.commit.bind(statements);
      const parked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      vi.spyOn(statements, "commit").mockImplementation(async (commits: readonly InstanceCommit[], sending) => {
        const answer = await original(commits as InstanceCommit[], sending);
        if (commits.some(({ outcome }) => outcome.kind === "parked")) {
          parked.resolve();
          await held.promise;
        }
        return answer;
      });
      return { parked: parked.promise, letThrough: held.resolve };
    }

    const waiting = defineWorkflow({ name: "waiting" }, async (_event, step) => {
      const { payload } = await step.waitForEvent<string>("word", { type: "word" });
      return payload;
    });

    test("go on when an event was sent", async () => {
      const process = subject.process({ waiting });
      const answer = holdAnswer(process as never);
      process.start();
      const instance = await process.workflows.waiting.create();
      await answer.parked;
      await instance.sendEvent({ type: "word", payload: "gold" });
      answer.letThrough();

      await expect(instance.result()).resolves.toBe("gold");
    });

    test("go on when they were resumed", async () => {
      const either = defineWorkflow({ name: "either" }, async (_event, step) => {
        const word = step.waitForEvent<string>("word", { type: "word" }).then(({ payload }) => payload);
        return await Promise.race([word, step.sleep("a moment", "4 seconds").then(() => "nothing")]);
      });
      const process = subject.process({ either });
      const answer = holdAnswer(process as never);
      process.start();
      const instance = await process.workflows.either.create();
      await becomes(instance, "waiting");
      await instance.pause();
      await answer.parked;
      await instance.sendEvent({ type: "word", payload: "gold" });
      await instance.resume();
      answer.letThrough();

      await expect(instance.result()).resolves.toBe("gold");
    });

    test("go on when the child that they wait for has ended in the same write", async () => {
      const child = defineWorkflow({ name: "child" }, async (_event, step) =>
        step.do("once", { retries: { limit: 0 } }, () => "gold"),
      );
      const parent = defineWorkflow({ name: "parent" }, async (_event, step) => (await step.create(child)).result());
      const process = subject.start({ parent, child });
      const instance = await process.workflows.parent.create();

      await expect(instance.result()).resolves.toBe("gold");
    });
  },
);
