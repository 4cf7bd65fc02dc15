import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { perdure } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useProcessGroup } from "../support/process-group.ts";
import { TRIGGERED_HOOKS } from "../support/worker-settings.ts";

const PROCESSES = 20;

describe.each(ENGINES)("an empty database ($name)", (engine) => {
  const group = useProcessGroup();

  test("is migrated by twenty processes that start at once, and all of them come up", async () => {
    await group.openEmpty(engine);
    const startFile = join(group.directory, "start");
    const workers = Array.from({ length: PROCESSES }, () => group.launch({ startFile, worker: { concurrency: 1 } }));
    await Promise.all(workers.map((worker) => worker.loaded()));
    writeFileSync(startFile, "");
    await Promise.all(workers.map((worker) => worker.ready()));
    await group.connect();
    const triggered = await group.trigger("note", 100);
    await group.emptied();

    expect(workers.filter(({ running }) => running)).toHaveLength(PROCESSES);
    expect(group.runs.map(({ hookId }) => hookId).toSorted()).toEqual(triggered.toSorted());
  });

  test("is migrated by one process that opens it many times at once", async () => {
    await group.openEmpty(engine);
    const database = group.location;
    const apps = await Promise.all(
      Array.from({ length: PROCESSES }, () => perdure({ database, hooks: TRIGGERED_HOOKS, worker: false })),
    );
    await Promise.all(apps.map((app) => app.hooks.note.trigger("")));

    expect(await apps[0]?.durableHooks.statistics()).toMatchObject({ pending: PROCESSES });
    await Promise.all(apps.map((app) => app.stop()));
  });
});

test("a path that leads nowhere is refused with an error of ours", async () => {
  const opened = perdure({ database: "/nowhere/at/all/app.db" });

  await expect(opened).rejects.toMatchObject({ name: "StoreError", code: "store.rejected" });
});
