import { describe, expect, test } from "vitest";
import { defineHook, defineWorkflow, perdure, type RunReport } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";
import { SILENT, useDispatcher } from "./support/use-dispatcher.ts";

describe.each(ENGINES)("subjects on $name", (engine) => {
  const fixture = useDispatcher(engine);
  const namespace = () => fixture.profile.replace(" ", "-");
  const discover = () => ["a", "b"].map((subjectKey) => ({ subjectKey, cursor: { page: 1 } }));

  test("can be run from a hook", async () => {
    const handled: string[] = [];
    const importStock = defineHook({}, async (_payload: undefined, hook) => {
      const dispatcher = app.subjects.dispatcher("inventory");
      await dispatcher.runSubjects({
        discover,
        signal: hook.signal,
        handle: ({ subjectKey }) => void handled.push(subjectKey),
      });
    });
    await using app = await perdure({
      database: fixture.database.adapter,
      namespace: namespace(),
      hooks: { importStock },
      logger: SILENT,
    });
    await app.hooks.importStock.trigger(undefined);
    await waitUntil("both are handled", () => handled.length === 2);
    expect(handled.sort()).toEqual(["a", "b"]);
  });

  test("can be run from a step of a workflow, whose result is the report", async () => {
    const sync = defineWorkflow(
      { name: "sync" },
      async (_event, step): Promise<RunReport> =>
        step.do(
          "run",
          (): Promise<RunReport> => app.subjects.dispatcher("inventory").runSubjects({ discover, handle: () => {} }),
        ),
    );
    await using app = await perdure({
      database: fixture.database.adapter,
      namespace: namespace(),
      workflows: { sync },
      logger: SILENT,
    });
    const instance = await app.workflows.sync.create();
    expect(await instance.result()).toMatchObject({ discovered: 2, completed: 2, failed: 0 });
  });

  test("but not inside a unit of work, which they would not be part of", async () => {
    await using app = await perdure({ database: fixture.database.adapter, namespace: namespace(), logger: SILENT });
    const dispatcher = app.subjects.dispatcher("inventory");
    const inside = app.unitOfWork(() => dispatcher.syncSubjects({ subjects: discover() }));
    await expect(inside).rejects.toMatchObject({ code: "transaction.nested" });
  });
});
