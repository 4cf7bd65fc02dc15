import { expect } from "vitest";
import type { WorkflowInstance } from "../../../src/workflows/instances/instance.ts";
import { becomes, comesToRest, type Mode, Sample } from "./sample.ts";
import { eventually, type WorkflowProcess, type WorkflowsUnderTest } from "./use-workflows.ts";

export type SampleProcess = WorkflowProcess<{ sample: Sample["workflow"] }>;

/** An instance in some state, and those who have to do with it. */
export interface Scene {
  readonly sample: Sample;
  readonly instance: WorkflowInstance;
  /** The process that runs it, if one does. */
  readonly runner: SampleProcess;
}

export interface Situation {
  readonly situation: string;
  /** As the process sees it that runs the instance. */
  readonly status: string;
  /** Whether a process is there that runs what is due. */
  readonly attended: boolean;
  /** Whether a process has the instance in its memory. */
  readonly live: boolean;
  /** Whether it is rolled back. */
  readonly undoing: boolean;
  enter(subject: WorkflowsUnderTest): Promise<Scene>;
}

/** Every state that people can find an instance in, and the ways to get there. */
export const SITUATIONS: readonly Situation[] = [
  waitingToBegin("that no worker runs yet", "queued", async () => {}),
  waitingToBegin("that was paused before it began", "paused", (instance) => instance.pause()),
  attended("in the middle of a step", "running", "work", { live: true }),
  attended("that sleeps for long", "waiting", "sleep"),
  attended("that sleeps for a moment", "waiting", "hold", { live: true }),
  attended("that waits for an event", "waiting", "event"),
  attended("between two attempts", "waiting", "retry"),
  attended("in the last step before its pause", "waitingForPause", "work", {
    live: true,
    from: "running",
    act: (instance) => instance.pause(),
  }),
  attended("that was paused asleep", "paused", "sleep", { from: "waiting", act: (instance) => instance.pause() }),
  attended("that was paused waiting for an event", "paused", "event", {
    from: "waiting",
    act: (instance) => instance.pause(),
  }),
  attended("in the middle of a rollback", "rollingBack", "undo", { live: true }),
  attended("between two attempts at a rollback", "rollingBack", "undoLater"),
  attended("that was paused in a rollback", "paused", "undoLater", {
    from: "rollingBack",
    act: (instance) => instance.pause(),
  }),
  attended("that has ended well", "complete", "complete"),
  attended("that has failed", "errored", "fail"),
  attended("that was terminated", "terminated", "sleep", {
    from: "waiting",
    act: (instance) => instance.terminate(),
  }),
];

type Act = (instance: WorkflowInstance) => Promise<void>;

function waitingToBegin(situation: string, status: string, act: Act): Situation {
  return {
    situation,
    status,
    attended: false,
    live: false,
    undoing: false,
    enter: async (subject) => {
      const sample = new Sample();
      const runner = subject.process({ sample: sample.workflow });
      const instance = await runner.workflows.sample.create({ id: "one", params: "complete" });
      await act(instance);
      return { sample, instance, runner };
    },
  };
}

function attended(
  situation: string,
  status: string,
  mode: Mode,
  { live = false, from = status, act = async () => {} }: { live?: boolean; from?: string; act?: Act } = {},
): Situation {
  const undoing = from === "rollingBack";
  return {
    situation,
    status,
    attended: true,
    live,
    undoing,
    enter: async (subject) => {
      const sample = new Sample();
      const runner = subject.start({ sample: sample.workflow });
      const instance = await runner.workflows.sample.create({ id: "one", params: mode });
      if (mode === "work") await eventually(() => expect(sample.began).toEqual(["work"]));
      if (undoing) await eventually(() => expect(sample.began).toEqual(["undo"]));
      await becomes(instance, from);
      if (!live) await comesToRest(runner);
      await act(instance);
      await becomes(instance, status);
      return { sample, instance, runner };
    },
  };
}
