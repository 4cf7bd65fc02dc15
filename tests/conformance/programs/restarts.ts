import type { Program } from "../program.ts";

/** Restarts, of everything that an instance can be. */
export const RESTARTS: readonly Program[] = [
  {
    name: "restart of a complete instance",
    run: async (step, event, { note }) => {
      const first = await step.do("first", async () => {
        note("first");
        return event.payload["word"];
      });
      return step.do("second", async () => {
        note("second");
        return [first, event.payload["word"]];
      });
    },
    drive: async (driver) => {
      const instance = await driver.create({ params: { word: "kept" } });
      const before = await instance.ended();
      const restarted = await instance.does("restart");
      await instance.noted("second", 2);
      return { before, restarted, after: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "restart of an errored instance",
    run: async (_step, _event, { note, gate }) => {
      note("ran");
      let isOpen = false;
      void gate("good").then(() => {
        isOpen = true;
      });
      await new Promise((resolve) => setTimeout(resolve, 50));
      if (!isOpen) throw new Error("not yet");
      return "good";
    },
    drive: async (driver) => {
      const instance = await driver.create();
      const before = await instance.ended();
      await instance.open("good");
      const restarted = await instance.does("restart");
      await instance.is("complete");
      return { before, restarted, after: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "restart of a terminated instance",
    run: async (step, _event, { note }) => {
      await step.do("first", async () => note("first"));
      const { payload } = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      return payload;
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.stepped(1);
      await instance.does("terminate");
      await instance.ended();
      const restarted = await instance.does("restart");
      await instance.noted("first", 2);
      await instance.does("sendEvent", { type: "word", payload: "second run" });
      return { restarted, ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "restart of a running instance",
    run: async (step, _event, { note, gate }) => {
      const first = await step.do("first", async () => {
        note("first");
        return 1;
      });
      return step.do("second", async () => {
        note("second");
        await gate("second");
        return first + 1;
      });
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("second");
      const restarted = await instance.does("restart");
      await instance.noted("second", 2);
      await instance.open("second");
      return { restarted, ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "restart of a paused instance",
    run: async (step, _event, { note, gate }) => {
      await step.do("first", async () => {
        note("first");
        await gate("first");
      });
      return step.do("second", async () => {
        note("second");
        return "end";
      });
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("first");
      await instance.does("pause");
      await instance.open("first");
      await instance.is("paused");
      await instance.does("restart");
      return { ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "a restart drops events that no wait took",
    run: async (step, _event, { note }) => {
      await step.do("first", async () => note("first"));
      const { payload } = await step.waitForEvent("word", { type: "word", timeout: "1 hour" });
      return payload;
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.noted("first");
      await instance.does("sendEvent", { type: "other", payload: "unheard" });
      await instance.does("restart");
      await instance.noted("first", 2);
      await instance.does("sendEvent", { type: "word", payload: "new" });
      return { ended: await instance.ended() };
    },
  },
  {
    name: "restart from a step keeps what was before it",
    run: async (step, _event, { note }) => {
      const results: string[] = [];
      for (const name of ["first", "second", "third"]) {
        results.push(
          await step.do(name, async () => {
            note(name);
            return name;
          }),
        );
      }
      return results;
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.ended();
      const unknown = await instance.does("restart", { from: { name: "nowhere" } });
      const { status } = await instance.ended();
      const restarted = await instance.does("restart", { from: { name: "second" } });
      await instance.noted("third", 2);
      return { unknown, status, restarted, ended: await instance.ended(), notes: await instance.notes() };
    },
  },
  {
    name: "restart from the second step of a name",
    run: async (step, _event, { note }) => {
      for (let turn = 1; turn <= 3; turn++) await step.do("turn", async () => note(`turn ${turn}`));
      return "end";
    },
    drive: async (driver) => {
      const instance = await driver.create();
      await instance.ended();
      const restarted = await instance.does("restart", { from: { name: "turn", count: 2 } });
      await instance.noted("turn 3", 2);
      return { restarted, ended: await instance.ended(), notes: await instance.notes() };
    },
  },
];
