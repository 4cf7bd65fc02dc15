import { describe, expect, test } from "vitest";
import { runSubjects } from "../../src/index.ts";
import { ENGINES } from "../support/engines.ts";
import { HOSTILE } from "../support/hostile.ts";
import { KNOWN, makeKnown, makeNewer } from "../support/newer-values.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

const CORRUPT = { code: "value.corrupt", message: expect.stringContaining("newer version") };

describe.each(ENGINES)("subjects on $name", (engine) => {
  const subject = useDispatcher(engine);

  test("with a cursor that a newer version has written are handed out when it can be read, and hold up no other", async () => {
    const dispatcher = subject.create({ retries: { delay: 1000, maxDelay: 1000 } });
    const subjects = [
      { subjectKey: "newer", cursor: KNOWN },
      { subjectKey: "other", cursor: "plain" },
    ];
    await dispatcher.syncSubjects({ subjects });
    const { store } = subject.database.adapter;
    await makeNewer(store, engine, "cursor");
    const claimed = await dispatcher.claimDueSubjects({ limit: 10, leaseMs: 60_000 });

    expect(claimed.map(({ subjectKey }) => subjectKey)).toEqual(["other"]);
    expect((await dispatcher.listSubjects()).subjects).toMatchObject([
      { subjectKey: "newer", status: "failed", cursor: null, unreadable: CORRUPT },
      { subjectKey: "other", cursor: "plain" },
    ]);
    await expect(dispatcher.getSubject("newer")).rejects.toMatchObject({ code: "value.corrupt" });
    await makeKnown(store, engine, "cursor");
    subject.clock.advance(1000);
    expect(await dispatcher.claimDueSubjects({ limit: 10, leaseMs: 60_000 })).toMatchObject([
      { subjectKey: "newer", cursor: KNOWN },
    ]);
  });

  test.each(HOSTILE)("whose handlers throw what can't be looked at fail as others do: $what", async ({ make }) => {
    const run = await runSubjects({
      database: subject.database.adapter,
      profile: subject.profile,
      dispatcherId: "inventory",
      discover: async () => [{ subjectKey: "hostile" }, { subjectKey: "other" }],
      handle: async ({ subjectKey }) => {
        if (subjectKey === "hostile") throw make();
      },
    });

    expect(run).toMatchObject({ completed: 1, failed: 1 });
  });
});
