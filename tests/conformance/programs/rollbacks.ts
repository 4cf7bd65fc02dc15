import type { Program, ProgramStep } from "../program.ts";
import type { World } from "../world.ts";
import { once } from "./support.ts";

/** A step that tells when it is done and when it is taken back. */
const undoable = (step: ProgramStep, { note }: World, name: string) =>
  step.do(
    name,
    async () => {
      note(name);
      return `${name} result`;
    },
    {
      rollback: async ({ ctx, error, output }) => {
        note(`undo ${ctx.step.name} after ${error instanceof Error}: ${output}`);
      },
    },
  );
const failing = (step: ProgramStep) =>
  step.do("bad", once, async () => {
    throw new Error("bad");
  });

/** Steps that are taken back. */
export const ROLLBACKS: readonly Program[] = [
  {
    name: "steps are taken back in reverse when the code doesn't catch an error",
    run: async (step, _event, world) => {
      await undoable(step, world, "first");
      await step.do("plain", async () => world.note("plain"));
      await undoable(step, world, "second");
      await failing(step);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      const { status, error } = await instance.ended();
      return { status, error, notes: await instance.notes() };
    },
  },
  {
    name: "nothing is taken back when an error is caught",
    run: async (step, _event, world) => {
      await undoable(step, world, "first");
      await failing(step).catch(() => {});
      return "end";
    },
    drive: async (driver) => {
      const instance = await driver.create();
      return { ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "a step that failed is taken back, too",
    run: async (step, _event, { note }) => {
      await step.do(
        "half",
        once,
        async () => {
          note("half");
          throw new Error("broke");
        },
        { rollback: async ({ output }) => note(`undo half: ${output}`) },
      );
    },
    drive: async (driver) => {
      const instance = await driver.create();
      const { status, error } = await instance.ended();
      return { status, error, notes: await instance.notes() };
    },
  },
  {
    name: "a rollback is tried again",
    run: async (step, _event, { note }) => {
      let attempts = 0;
      await step.do("first", async () => note("first"), {
        rollback: async () => {
          note(`undo ${++attempts}`);
          if (attempts < 3) throw new Error("not yet");
        },
        rollbackConfig: { retries: { limit: 3, delay: 1, backoff: "constant" } },
      });
      await failing(step);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      const { status, error } = await instance.ended();
      return { status, error, notes: await instance.notes() };
    },
  },
  {
    name: "a rollback that fails for good stops the others",
    run: async (step, _event, world) => {
      await undoable(step, world, "first");
      await step.do("second", async () => world.note("second"), {
        rollback: async () => {
          world.note("undo second");
          throw new Error("can't");
        },
        rollbackConfig: once,
      });
      await failing(step);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      const { status, error } = await instance.ended();
      return { status, error, notes: await instance.notes() };
    },
  },
  {
    name: "terminated with rollback in a wait",
    run: async (step, _event, world) => {
      await undoable(step, world, "first");
      await undoable(step, world, "second");
      await step.waitForEvent("never", { type: "never" });
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.stepped(2);
      const terminated = await instance.does("terminate", { rollback: true });
      const { status, error } = await instance.ended();
      return { terminated, status, error, notes: await instance.notes() };
    },
  },
  {
    name: "terminated without rollback takes nothing back",
    run: async (step, _event, world) => {
      await undoable(step, world, "first");
      await step.waitForEvent("never", { type: "never" });
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.stepped(1);
      await instance.does("terminate");
      const { status } = await instance.ended();
      return { status, notes: await instance.notes() };
    },
  },
];
