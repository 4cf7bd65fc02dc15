import { describe, expect, test } from "vitest";
import { usePostgres } from "../support/use-postgres.ts";
import { LEASE_MS, SubjectsUnderTest } from "../support/use-subjects.ts";

/** Sessions of a test's own hold rows, so that statements meet in the ways that chance rarely brings about. */
describe("subjects on PostgreSQL, when transactions meet:", () => {
  const database = usePostgres();
  const fixture = new SubjectsUnderTest(database);

  async function hold(subjectKey: string) {
    const session = await database.begin();
    const key = [fixture.scope.profile, subjectKey];
    await session.query("select from perdure.subject where profile = $1 and subject_key = $2 for update", key);
    return session;
  }

  test("a claim takes the subjects that aren't locked, and waits for no transaction", async () => {
    const dueAt = (key: string, time: number) => fixture.discovered(key, { dueAt: time, group: key });
    await fixture.sync([dueAt("a", 1), dueAt("b", 2), dueAt("c", 3)]);
    await hold("a");

    expect(await fixture.claimKeys({ limit: 1 })).toEqual(["b"]);
    expect(await fixture.claimKeys({ fair: { limit: 5, after: "", groups: 10 } })).toEqual(["c"]);
  });

  test("a change that waits for a takeover is refused when that has happened", async () => {
    const owner = await fixture.start();
    fixture.clock.advance(LEASE_MS);
    const session = await hold("a");
    const changing = fixture.change(owner, "complete", { cursor: '"late"' });
    await database.waiting(1);
    await session.query(
      `update perdure.subject set revision = revision + 1, lease_owner = 'another', available_at = $2 where profile = $1`,
      [fixture.scope.profile, fixture.now + LEASE_MS],
    );
    await session.query("commit");

    expect(await changing).toMatchObject({ result: "stale", subject: { leaseOwner: "another", cursor: "null" } });
  });

  test("of two changes at one revision the second is refused, also when it waited for the first", async () => {
    const owner = await fixture.start();
    const session = await hold("a");
    const first = fixture.change(owner, "checkpoint", { cursor: '"1"' });
    const second = fixture.change(owner, "complete", { cursor: '"2"' });
    await database.waiting(2);
    await session.query("commit");

    const results = (await Promise.all([first, second])).map(({ result }) => result);
    expect(results.sort()).toEqual(["changed", "stale"]);
    expect(await fixture.get()).toMatchObject({ revision: owner.revision + 1 });
  });

  test("a sync that waits for a claim leaves alone what that has taken", async () => {
    await fixture.sync([fixture.discovered("a", { cursor: '"1"' })]);
    const session = await hold("a");
    const syncing = fixture.sync([fixture.discovered("a", { cursor: '"2"' })]);
    await database.waiting(1);
    await session.query(
      `update perdure.subject set revision = 2, status = 'leased', lease_owner = 'another', available_at = $2 where profile = $1`,
      [fixture.scope.profile, fixture.now + LEASE_MS],
    );
    await session.query("commit");

    expect(await syncing).toEqual({ created: 0, refreshed: 0 });
    expect(await fixture.get()).toMatchObject({ status: "leased", cursor: '"1"', revision: 2 });
  });

  test("two syncs of the same subjects in opposite orders both succeed", async () => {
    const keys = Array.from({ length: 300 }, (_, index) => `s${index}`);
    const syncs = Array.from({ length: 6 }, (_, index) => {
      const ordered = index % 2 ? keys : [...keys].reverse();
      return fixture.sync(ordered.map((key) => fixture.discovered(key, { meta: String(index) })));
    });
    const counts = await Promise.all(syncs);

    expect(counts.reduce((sum, { created }) => sum + created, 0)).toBe(300);
  });
});
