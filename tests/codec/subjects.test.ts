import { describe, expect, test } from "vitest";
import { createSubjectDispatcher } from "../../src/index.ts";
import { useDispatcher } from "../subjects/support/use-dispatcher.ts";
import { ENGINES } from "../support/engines.ts";
import { NEW, OLD, ROTATED } from "./support/keys.ts";

describe.each(ENGINES)("encrypted subjects on $name", (engine) => {
  const subject = useDispatcher(engine);

  function open(codec: typeof OLD) {
    const database = subject.database.reopen({ clock: subject.clock, codec });
    return createSubjectDispatcher<{ page: number }, { id: string }>({
      database,
      profile: subject.profile,
      dispatcherId: "imports",
      retries: { delay: 1000, maxDelay: 1000 },
    });
  }

  const subjects = [{ subjectKey: "a", cursor: { page: 1 }, meta: { id: "1" } }];

  test("aren't touched by a sync that changes nothing", async () => {
    const dispatcher = open(OLD);
    expect(await dispatcher.syncSubjects({ subjects })).toMatchObject({ created: 1 });
    expect(await dispatcher.syncSubjects({ subjects })).toMatchObject({ created: 0, refreshed: 0 });
    const changed = [{ subjectKey: "a", meta: { id: "2" } }];
    expect(await dispatcher.syncSubjects({ subjects: changed })).toMatchObject({ refreshed: 1 });
    expect(await dispatcher.getSubject("a")).toMatchObject({ revision: 2, cursor: { page: 1 }, meta: { id: "2" } });
  });

  test("that can't be read are handed to no worker, and come up again", async () => {
    const old = open(OLD);
    await old.syncSubjects({ subjects });
    const unable = open(NEW);
    await unable.syncSubjects({ subjects: [{ subjectKey: "b", cursor: { page: 5 } }] });
    const claimed = await unable.claimDueSubjects({ limit: 10, leaseMs: 60_000 });
    expect(claimed.map(({ subjectKey }) => subjectKey)).toEqual(["b"]);

    const able = open(ROTATED);
    expect(await able.getSubject("a")).toMatchObject({
      status: "failed",
      cursor: { page: 1 },
      lastError: expect.objectContaining({ code: "codec.key_missing" }),
    });
    subject.clock.advance(1000);
    expect(await able.claimDueSubjects({ limit: 10, leaseMs: 60_000 })).toMatchObject([
      { subjectKey: "a", cursor: { page: 1 }, meta: { id: "1" } },
    ]);
  });
});
