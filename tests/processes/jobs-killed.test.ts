import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { type JobState, perdure } from "../../src/index.ts";
import { LogBook } from "../hooks/support/log-book.ts";
import { ENGINES } from "../support/engines.ts";
import { workflowsOfJobs } from "../support/job-workflows.ts";
import { ProgramProcess } from "../support/program-process.ts";
import { waitUntil } from "../support/wait-until.ts";

const program = fileURLToPath(new URL("../support/job-program.ts", import.meta.url));
const ALL = 2000;
const AT_ONCE = 1000;

describe.each(ENGINES)("processes that run a job and are killed ($name)", (engine) => {
  const processes: ProgramProcess<never>[] = [];

  const killAll = async () => {
    for (const process of processes) process.kill("SIGKILL");
    await Promise.all(processes.splice(0).map((process) => process.ended));
  };
  afterEach(killAll);

  test("leave it to another, which acts once on each of the other instances and counts all once", async () => {
    const database = await engine.create();
    const start = () => {
      const process = new ProgramProcess<never>(program, { database: database.location });
      processes.push(process);
      return process.ready();
    };
    const app = await perdure({
      database: database.location,
      workflows: workflowsOfJobs,
      workflowLimits: { batchSize: AT_ONCE },
      worker: false,
      logger: new LogBook(),
    });
    try {
      for (let created = 0; created < ALL; created += AT_ONCE) {
        await app.workflows.idle.createBatch(
          Array.from({ length: AT_ONCE }, (_, index) => ({ id: `i-${created + index}` })),
        );
      }
      const job = await app.jobs.start({ action: "restart", instances: { workflow: "idle" } });
      const untilDone = (wanted: (state: JobState) => boolean) =>
        waitUntil("the job is further", async () => {
          const state = await job.status();
          return wanted(state) ? state : null;
        });
      const killed = await start();
      const midway = await untilDone(({ done }) => done > 0);
      killed.kill("SIGKILL");
      await killed.ended;
      expect(midway.done).toBeLessThan(ALL);
      await start();

      expect(await untilDone(({ state }) => state === "finished")).toMatchObject({ done: ALL, skipped: 0, failed: 0 });
      const runs = new Map<number, number>();
      let cursor: string | null = null;
      do {
        const page = await app.workflows.idle.list({ limit: 1000, ...(cursor === null ? {} : { cursor }) });
        for (const { run } of page.instances) runs.set(run, (runs.get(run) ?? 0) + 1);
        cursor = page.cursor;
      } while (cursor !== null);
      expect([...runs]).toEqual([[2, ALL]]);
    } finally {
      await killAll();
      await app.stop();
      await database.dispose();
    }
  });
});
