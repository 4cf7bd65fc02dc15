import { afterAll, beforeAll, expect, test } from "vitest";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../support/embedded-postgres.ts";
import { waitUntil } from "../support/wait-until.ts";
import { idsOf, useWorkflowGroup } from "../support/workflow-group.ts";

const group = useWorkflowGroup();
const STEPS = ["first", "left", "right", "again", "last"];
let server: EmbeddedPostgres;

beforeAll(async () => {
  server = await startEmbeddedPostgres();
});

afterAll(() => server?.stop());

test.each(["fast", "immediate"] as const)(
  "a server that is restarted (%s) in the middle of workflows makes none of them fail, and all finish",
  async (mode) => {
    await group.openAt(server.url);
    const settings = { worker: { leaseMs: 3000, concurrency: 10 } };
    const processes = await Promise.all([group.start(settings), group.start(settings)]);
    const all: string[] = [];
    const earlier = (await group.app.workflows.journey.list({ limit: 1000 })).instances.length;
    for (let round = 0; round < 2; round++) {
      const ids = idsOf(`${mode}-${round}`, 100);
      const before = processes.map(({ began }) => began.length);
      await group.create("journey", ids);
      all.push(...ids);
      await waitUntil("both were in the middle", () =>
        processes.every(({ began }, index) => began.length > (before[index] ?? 0) + 10),
      );
      await server.shutDown(mode);
      await server.startAgain();
    }
    await group.finished("journey", earlier + all.length, 60_000);

    await group.expectComplete("journey", all, STEPS);
    for (const process of processes) {
      process.kill("SIGTERM");
      expect(await process.ended).toEqual({ code: 0, signal: null });
    }
  },
);
