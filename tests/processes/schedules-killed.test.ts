import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { perdure } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES } from "../support/engines.ts";
import { ProgramProcess } from "../support/program-process.ts";
import { scheduledWorkflows } from "../support/schedule-workflows.ts";
import { waitUntil } from "../support/wait-until.ts";

const program = fileURLToPath(new URL("../support/schedule-program.ts", import.meta.url));

describe.each(ENGINES)("processes that fire schedules and are killed ($name)", (engine) => {
  const processes: ProgramProcess<never>[] = [];

  afterEach(async () => {
    for (const process of processes) process.kill("SIGKILL");
    await Promise.all(processes.splice(0).map((process) => process.ended));
  });

  test("leave no time that is fired without its instance, and others continue", async () => {
    const database = await engine.create();
    const app = await perdure({
      database: database.location,
      workflows: scheduledWorkflows,
      worker: false,
      logger: new LogBook(),
    });
    const start = async () => {
      const process = new ProgramProcess<never>(program, { database: database.location });
      processes.push(process);
      return process.ready();
    };
    const fired = async () => (await app.schedules.list())[0]?.lastAt ?? null;
    const newest = async () => (await app.workflows.tick.list({ limit: 1 })).instances[0];
    try {
      let current = await start();
      for (let round = 0; round < 3; round++) {
        const before = await fired();
        await waitUntil("it has fired", async () => Number(await fired()) > Number(before));
        current.kill("SIGKILL");
        await current.ended;
        expect((await newest())?.id).toBe(`each:${(await fired())?.toISOString()}`);
        current = await start();
      }
      const last = await fired();
      await waitUntil("another time has come", async () => Number(await fired()) > Number(last));
      const firedUntilThen = (await app.workflows.tick.list()).instances.map(({ id }) => id);
      await waitUntil("all of those are complete", async () => {
        const { instances } = await app.workflows.tick.list({ status: "complete", limit: 1000 });
        const complete = new Set(instances.map(({ id }) => id));
        return firedUntilThen.every((id) => complete.has(id));
      });
      const { instances } = await app.workflows.tick.list({ status: "complete" });
      for (const { id, output } of instances) expect(id).toBe(`each:${new Date(output as number).toISOString()}`);
    } finally {
      await app.stop();
      for (const process of processes) process.kill("SIGKILL");
      await Promise.all(processes.map((process) => process.ended));
      await database.dispose();
    }
  });
});
