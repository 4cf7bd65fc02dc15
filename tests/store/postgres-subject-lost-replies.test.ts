import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { postgres } from "../../src/store/postgres/index.ts";
import type { Store } from "../../src/store/store.ts";
import type { SubjectChangeKind, SubjectRecord } from "../../src/store/subjects/subject-records.ts";
import { type Cut, CuttingProxy } from "../support/cutting-proxy.ts";
import { usePostgres } from "../support/use-postgres.ts";
import { LEASE_MS, SubjectsUnderTest } from "../support/use-subjects.ts";

/** PostgreSQL may have done what it was asked, or may never have heard of it. The client can't tell, and needn't. */
const CUTS: Cut[] = ["answer", "request"];
const KINDS: SubjectChangeKind[] = ["checkpoint", "complete", "fail", "release"];
const silent = { info: () => {}, warn: () => {}, error: () => {} };

describe("a connection to PostgreSQL that is cut, for subjects,", () => {
  const database = usePostgres();
  const fixture = new SubjectsUnderTest(database);
  let proxy: CuttingProxy;
  let store: Store;

  beforeAll(async () => {
    proxy = await CuttingProxy.start(database.url);
    ({ store } = postgres(proxy.url, { logger: silent, clock: database.clock }));
  });
  afterAll(async () => {
    await store.close();
    await proxy.stop();
  });

  /** A caller that waits to send again waits by a clock that stands still. */
  async function patiently<Result>(result: Promise<Result>): Promise<Result> {
    let done = false;
    const ended = result.finally(() => {
      done = true;
    });
    ended.catch(() => {});
    while (!done) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      const next = database.clock.nextTimer;
      if (next !== null && next <= 500) database.clock.advance(next);
    }
    return ended;
  }

  describe.each(CUTS)("before the %s came", (cut) => {
    test.each(KINDS)("writes a change once, and says so: %s", async (kind) => {
      const owner = await fixture.start(`${fixture.scope.profile}-a`);
      const change = fixture.changeOf(owner, kind, { cursor: '{"page":2}', error: '"e"', delayMs: 60_000 });
      const wasCut = proxy.cut(change.changeId, cut);
      const result = await patiently(store.subjects.change(change));
      await wasCut;

      expect(result).toMatchObject({
        result: "changed",
        subject: { revision: owner.revision + 1, cursor: '{"page":2}' },
      });
      const { revision, failures } = (await fixture.get(owner.subjectKey)) as SubjectRecord;
      expect([revision, failures]).toEqual([owner.revision + 1, kind === "fail" ? 1 : 0]);
    });

    test("still refuses a change at an old revision", async () => {
      const owner = await fixture.start(`${fixture.scope.profile}-a`);
      const latest = await fixture.changed(owner, "checkpoint");
      const change = fixture.changeOf(owner, "complete");
      const wasCut = proxy.cut(change.changeId, cut);
      const result = await patiently(store.subjects.change(change));
      await wasCut;

      expect(result).toEqual({ result: "stale", subject: latest });
    });

    test("syncs once, and moves no revision twice", async () => {
      const subjects = ["a", "b"].map((name) =>
        fixture.discovered(`${fixture.scope.profile}-${name}`, { cursor: '"c"' }),
      );
      const batch = { ...fixture.scope, subjects, keepProgress: false };
      const wasCut = proxy.cut(`${fixture.scope.profile}-a`, cut);
      await patiently(store.subjects.sync(batch));
      await wasCut;

      expect((await fixture.list()).map(({ revision, cursor }) => [revision, cursor])).toEqual([
        [1, '"c"'],
        [1, '"c"'],
      ]);
    });

    test("lets subjects of a claim whose reply was lost come up again after the lease", async () => {
      await fixture.sync(["a"]);
      const owner = `${fixture.scope.profile} owner`;
      const claim = { ...fixture.scope, limit: 5, leaseMs: LEASE_MS, owner, dueBy: null, fair: null };
      const wasCut = proxy.cut(owner, cut);
      await expect(store.engine.subjects.claim(claim)).rejects.toMatchObject({ transient: true });
      await wasCut;

      expect(await fixture.claimKeys()).toEqual(cut === "answer" ? [] : ["a"]);
      database.clock.advance(LEASE_MS);
      expect(await fixture.claimKeys()).toEqual(["a"]);
    });
  });
});
