import type { Program } from "../program.ts";

/** Cloudflare's local engine says `running` of what sleeps or waits. */
const UNDER_WAY = ["running", "waiting"];

/** Pausing, resuming, ending and deleting, from outside. */
export const LIFECYCLE: readonly Program[] = [
  {
    name: "paused between steps, and resumed",
    run: async (step, _event, { note, gate }) => {
      const first = await step.do("first", async () => {
        note("first");
        await gate("first");
        return 1;
      });
      return step.do("second", async () => {
        note("second");
        return first + 1;
      });
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("first");
      const paused = await instance.does("pause");
      await instance.is("waitingForPause");
      await instance.open("first");
      await instance.is("paused");
      const whilePaused = await instance.state();
      const notes = await instance.notes();
      const resumed = await instance.does("resume");
      return { paused, whilePaused, notes, resumed, ended: await instance.ended(), all: await instance.notes() };
    },
  },
  {
    name: "a pause that is taken back while a step runs",
    run: async (step, _event, { note, gate }) => {
      const first = await step.do("first", async () => {
        note("first");
        await gate("first");
        return 1;
      });
      return step.do("second", async () => first + 1);
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("first");
      await instance.does("pause");
      await instance.is("waitingForPause");
      const resumed = await instance.does("resume");
      const { status } = await instance.state();
      await instance.open("first");
      return { resumed, status, ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "paused in a sleep, resumed and terminated",
    run: async (step, _event, { note }) => {
      await step.do("before", async () => note("before"));
      await step.sleep("long", "1 hour");
      note("after");
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.stepped(1);
      await instance.is(...UNDER_WAY);
      await instance.does("pause");
      await instance.is("paused");
      const again = await instance.does("pause");
      await instance.does("resume");
      await instance.is(...UNDER_WAY);
      const terminated = await instance.does("terminate");
      return { again, terminated, ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "paused in a wait: an event that comes meanwhile is kept",
    run: async (step, _event, { note }) => {
      await step.do("before", async () => note("before"));
      const { payload } = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      await step.do("after", async () => note("after"));
      return payload;
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.stepped(1);
      await instance.is(...UNDER_WAY);
      await instance.does("pause");
      await instance.is("paused");
      const sent = await instance.does("sendEvent", { type: "word", payload: "kept" });
      const { status } = await instance.state();
      const notes = await instance.notes();
      await instance.does("resume");
      return { sent, status, notes, ended: await instance.ended() };
    },
  },
  {
    name: "terminated in a wait",
    run: async (step, _event, { note }) => {
      await step.do("before", async () => note("before"));
      await step.waitForEvent("word", { type: "word" });
      note("after");
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.stepped(1);
      const terminated = await instance.does("terminate");
      const ended = await instance.ended();
      return { terminated, ended, again: await instance.does("terminate"), notes: await instance.notes() };
    },
  },
  {
    name: "terminated in a step",
    run: async (step, _event, { note, gate }) => {
      await step.do("long", async () => {
        note("long");
        await gate("long");
      });
      await step.do("after", async () => note("after"));
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("long");
      await instance.does("terminate");
      const ended = await instance.ended();
      await instance.open("long");
      return { ended, later: await instance.state(), notes: await instance.notes() };
    },
  },
  {
    name: "terminated while paused",
    run: async (step, _event, { note }) => {
      await step.do("before", async () => note("before"));
      await step.sleep("long", "1 hour");
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.stepped(1);
      await instance.is(...UNDER_WAY);
      await instance.does("pause");
      await instance.is("paused");
      return { terminated: await instance.does("terminate"), ended: await instance.ended() };
    },
  },
  {
    name: "what is asked of a finished instance",
    run: async (step) => step.do("only", async () => "done"),
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.ended();
      const asked: Record<string, string> = {};
      for (const operation of ["pause", "resume", "terminate"]) asked[operation] = await instance.does(operation);
      asked["event"] = await instance.does("sendEvent", { type: "late", payload: 1 });
      return { ...asked, ended: await instance.ended() };
    },
  },
  {
    name: "resuming what isn't paused does nothing",
    run: async (step, _event, { note, gate }) => {
      await step.do("long", async () => {
        note("long");
        await gate("long");
      });
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("long");
      const resumed = await instance.does("resume");
      await instance.open("long");
      return { resumed, ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "deleted, and created anew by the same id",
    run: async (step, _event, { note }) => step.do("only", async () => note("only")),
    drive: async (driver) => {
      const instance = await driver.create({ id: driver.id() });
      await instance.ended();
      const deleted = await instance.does("delete");
      const gone = await driver.asks("get", instance.id);
      const again = await instance.does("delete");
      const second = await driver.create({ id: instance.id });
      const { status } = await second.ended();
      return { deleted, gone, again, status, notes: await second.notes() };
    },
  },
];
