import type { Program } from "../program.ts";
import { show } from "../show.ts";

/** The program of instances that were given nothing. */
export const BARE = "nothing to begin with";

/** How instances are created and found. */
export const CREATING: readonly Program[] = [
  {
    name: "what code is begun with",
    run: async (_step, event) => ({
      keys: Object.keys(event).toSorted(),
      dated: event.timestamp instanceof Date,
      workflow: event.workflowName,
      payload: show(event.payload),
    }),
    drive: async (driver) => ({ ended: await (await driver.create({ params: { list: [1, null] } })).ended() }),
  },
  {
    name: BARE,
    run: async (_step, event) => show(event.payload),
    drive: async (driver) => {
      const ids = [driver.id(), driver.id()] as const;
      await driver.asks("create", { id: ids[0] });
      await driver.asks("createBatch", [{ id: ids[1] }]);
      return { ended: await Promise.all(ids.map((id) => driver.instance(id).ended())) };
    },
  },
  {
    name: "an id of its own",
    run: async (_step, event) => event.instanceId,
    drive: async (driver) => {
      const id = driver.id();
      const instance = await driver.create({ id });
      const { output } = await instance.ended();
      return { created: instance.id === id, told: output === id, found: (await driver.asks("get", id)) === id };
    },
  },
  {
    name: "an id that exists",
    run: async (step, _event, { note }) => step.do("only", async () => note("ran")),
    drive: async (driver) => {
      const instance = await driver.create({ id: driver.id() });
      await instance.ended();
      const answer = await driver.asks("create", driver.options(instance.id));
      return { again: answer === "refused" ? "refused" : "done", notes: await instance.notes() };
    },
  },
  {
    name: "ids that are none",
    run: async () => "never",
    drive: async (driver) => {
      const answers: Record<string, unknown> = {};
      for (const id of ["", "with space", "x".repeat(101), "-begins", "slash/ed"])
        answers[id.slice(0, 10)] = (await driver.asks("create", driver.options(id))) === "refused" ? "refused" : "done";
      return answers;
    },
  },
  {
    name: "an id that no instance has",
    run: async () => "never",
    drive: async (driver) => ({ got: await driver.asks("get", driver.id()) }),
  },
  {
    name: "many at once",
    run: async (step, event) => step.do("only", async () => event.instanceId),
    drive: async (driver) => {
      const ids = [driver.id(), driver.id(), driver.id()];
      const created = (await driver.asks(
        "createBatch",
        ids.map((id) => driver.options(id)),
      )) as string[];
      const ended = await Promise.all(ids.map((id) => driver.instance(id).ended()));
      return {
        created: created.map((id) => ids.indexOf(id)),
        outputs: ended.map(({ output }) => ids.indexOf(output as string)),
      };
    },
  },
  {
    name: "many at once, of which one is there",
    run: async (step, _event, { note }) => step.do("only", async () => note("ran")),
    drive: async (driver) => {
      const ids = [driver.id(), driver.id()] as const;
      await (await driver.create({ id: ids[0] })).ended();
      const created = (await driver.asks(
        "createBatch",
        ids.map((id) => driver.options(id)),
      )) as string[];
      const { status } = await driver.instance(ids[1]).ended();
      return { created: created.map((id) => ids.indexOf(id)), status, notes: await driver.instance(ids[0]).notes() };
    },
  },
  {
    name: "none at once",
    run: async () => "never",
    drive: async (driver) => ({ created: await driver.asks("createBatch", []) }),
  },
  {
    name: "many are deleted at once",
    run: async () => "end",
    drive: async (driver) => {
      const instance = await driver.create({ id: driver.id() });
      await instance.ended();
      const missing = driver.id();
      const answer = (await driver.asks("deleteBatch", [instance.id, missing])) as {
        deleted: readonly { id: string }[];
        errors: readonly { id: string; code: unknown }[];
      };
      return {
        deleted: answer.deleted.map(({ id }) => id === instance.id),
        errors: answer.errors.map(({ id }) => id === missing),
        code: answer.errors[0]?.code,
        gone: await driver.asks("get", instance.id),
      };
    },
  },
];
