import { describe, expect, test } from "vitest";
import { createDurableHooksDispatcher } from "../../src/dispatchers/node.ts";
import { createDurableHooksProcessor } from "../../src/fragment/create-processor.ts";
import { defineFragment } from "../../src/fragment/define-fragment.ts";
import { instantiate } from "../../src/fragment/instantiate.ts";
import { migrate } from "../../src/fragment/migrate.ts";
import type { DatabaseAdapter } from "../../src/store/store.ts";
import { DRIVERS } from "../support/engines.ts";
import { waitUntil } from "../support/wait-until.ts";

describe.each(DRIVERS)("an adapter under a fragment on $name", (engine) => {
  /** A fragment that has run a hook, and whose dispatcher polls. */
  async function setUp() {
    const database = await engine.createEmpty();
    const greeted: string[] = [];
    const definition = defineFragment("greetings")
      .provideHooks(({ defineHook }) => ({ greet: defineHook((name: string) => void greeted.push(name)) }))
      .build();
    const instantiateOn = async (databaseAdapter: DatabaseAdapter) => {
      const fragment = instantiate(definition).withOptions({ databaseAdapter }).build();
      await migrate(fragment);
      const processor = createDurableHooksProcessor(fragment);
      if (processor === null) throw new Error("Expected something to run.");
      const dispatcher = createDurableHooksDispatcher({ processor });
      const greet = (name: string) => fragment.unitOfWork(async (uow) => uow.triggerHook("greet", name));
      return { dispatcher, greet };
    };
    return { database, greeted, instantiateOn };
  }

  test("is closed after its dispatcher has stopped, refuses calls after that, and leaves the data", async () => {
    const { database, greeted, instantiateOn } = await setUp();
    const { adapter: databaseAdapter, reopen } = database;
    const { dispatcher, greet } = await instantiateOn(databaseAdapter);
    dispatcher.startPolling();
    await greet("ada");
    await waitUntil("the hook has run", () => greeted.length === 1);
    await dispatcher.stopPolling();
    await greet("bob");
    await databaseAdapter.close();
    await databaseAdapter.close();

    await expect(greet("eve")).rejects.toMatchObject({ code: "store.closed" });
    await (await instantiateOn(reopen())).dispatcher.drain();
    expect(greeted).toEqual(["ada", "bob"]);
    await database.dispose();
  });

  test("is closed at the end of a block by await using, after pending writes", async () => {
    const { database, greeted, instantiateOn } = await setUp();
    const pending: Promise<unknown>[] = [];
    {
      await using databaseAdapter = database.reopen();
      const { greet } = await instantiateOn(databaseAdapter);
      pending.push(greet("ada"), greet("bob"));
    }
    await Promise.all(pending);

    await (await instantiateOn(database.adapter)).dispatcher.drain();
    expect(greeted.toSorted()).toEqual(["ada", "bob"]);
    await database.dispose();
  });
});
