import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as flo from "../../src/flo/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

const now = () => new Date(test.clock.now()).toISOString();
let test: ReturnType<typeof useDispatcher>;

describe.each(ENGINES)("perdure/flo on $name", (engine) => {
  const under = useDispatcher(engine);
  beforeEach(() => {
    test = under;
    flo.configure({ database: under.database.adapter, profile: under.profile });
  });
  afterEach(() => flo.close());

  async function sync() {
    return flo.dispatcher.syncSubjects({
      dispatcher_id: "dispatcher.inventory",
      subjects: [
        {
          subject_key: "warehouse:cn-shenzhen",
          cursor: { page: 1 },
          meta: { warehouse_id: "cn-shenzhen" },
          next_due_at: now(),
        },
      ],
    });
  }

  async function claimOne() {
    const claim = await flo.dispatcher.claimDueSubjects<
      { page?: number; next_cursor?: string },
      { warehouse_id: string }
    >({
      dispatcher_id: "dispatcher.inventory",
      limit: 10,
      lease_ms: 5 * 60 * 1000,
    });
    const [claimed] = claim.subjects;
    if (claimed === undefined) throw new Error("Expected a subject.");
    return claimed;
  }

  async function checkpoint() {
    const claimed = await claimOne();
    return flo.dispatcher.checkpointSubject({
      dispatcher_id: claimed.dispatcher_id,
      subject_key: claimed.subject_key,
      revision: claimed.revision,
      cursor: { page: 2, next_cursor: "cursor-2" },
      meta: claimed.meta,
      lease_ms: 5 * 60 * 1000,
    });
  }

  it("syncs, claims and checkpoints", async () => {
    expect(await sync()).toEqual({ created: 1, refreshed: 0, retired: 0 });
    const running = await checkpoint();

    const leaseEnd = new Date(test.clock.now() + 300_000).toISOString();
    expect(running).toEqual({
      profile: test.profile,
      dispatcher_id: "dispatcher.inventory",
      subject_key: "warehouse:cn-shenzhen",
      group: null,
      status: "running",
      revision: 3,
      cursor: { page: 2, next_cursor: "cursor-2" },
      meta: { warehouse_id: "cn-shenzhen" },
      next_due_at: now(),
      lease_owner: expect.any(String),
      lease_expires_at: leaseEnd,
      attempts: 1,
      consecutive_failures: 0,
      last_error: null,
      last_success_at: null,
      last_failure_at: null,
      created_at: now(),
      updated_at: now(),
    });
  });

  it("completes with a next due time", async () => {
    await sync();
    const running = await checkpoint();
    const next_due_at = new Date(test.clock.now() + 15 * 60 * 1000).toISOString();
    const done = await flo.dispatcher.completeSubject({
      dispatcher_id: running.dispatcher_id,
      subject_key: running.subject_key,
      revision: running.revision,
      cursor: running.cursor,
      meta: running.meta,
      next_due_at,
    });
    expect(done).toMatchObject({ status: "idle", next_due_at, last_success_at: now(), cursor: { page: 2 } });
  });

  it("fails with a retry hint", async () => {
    await sync();
    const running = await checkpoint();
    const failed = await flo.dispatcher.failSubject({
      dispatcher_id: running.dispatcher_id,
      subject_key: running.subject_key,
      revision: running.revision,
      error: {
        code: "upstream_timeout",
        message: "warehouse API timed out",
      },
      retry_after_ms: 60_000,
    });
    expect(failed).toMatchObject({
      status: "failed",
      consecutive_failures: 1,
      last_error: { code: "upstream_timeout", message: "warehouse API timed out" },
      next_due_at: new Date(test.clock.now() + 60_000).toISOString(),
    });
  });

  it("releases", async () => {
    await sync();
    const running = await checkpoint();
    const released = await flo.dispatcher.releaseSubject({
      dispatcher_id: running.dispatcher_id,
      subject_key: running.subject_key,
      revision: running.revision,
    });
    expect(released).toMatchObject({ status: "idle", attempts: 0, consecutive_failures: 0, lease_owner: null });
    expect(await claimOne()).toMatchObject({ cursor: { page: 2, next_cursor: "cursor-2" } });
  });

  it("doesn't overwrite an active subject, and refreshes an inactive one", async () => {
    await sync();
    const running = await checkpoint();
    expect(await sync()).toEqual({ created: 0, refreshed: 0, retired: 0 });
    const { dispatcher_id, subject_key, revision } = running;
    await flo.dispatcher.completeSubject({ dispatcher_id, subject_key, revision, next_due_at: now() });
    expect(await sync()).toEqual({ created: 0, refreshed: 1, retired: 0 });
    expect(await claimOne()).toMatchObject({ cursor: { page: 1 } });
  });

  it("gives a conflict with the current state, in its own words", async () => {
    await sync();
    const running = await checkpoint();
    const stale = flo.dispatcher.releaseSubject({ ...reference(running), revision: 1 });
    const error = await stale.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(flo.RevisionConflictError);
    expect(error).toMatchObject({ code: "subject.revision_conflict", current: running });
  });

  it("refuses both hints, times that are none, and what isn't an object", async () => {
    await sync();
    const running = reference(await checkpoint());
    const fail = (rest: object) => flo.dispatcher.failSubject({ ...running, error: 1, ...rest });
    await expect(fail({ next_due_at: now(), retry_after_ms: 1 })).rejects.toMatchObject({ code: "subject.invalid" });
    await expect(fail({ next_due_at: "soon" })).rejects.toMatchObject({ code: "subject.invalid" });
    await expect(flo.dispatcher.claimDueSubjects(null as never)).rejects.toMatchObject({ code: "subject.invalid" });
  });

  it("keeps profiles apart", async () => {
    await sync();
    flo.configure({ database: test.database.adapter, profile: "another" });
    const claim = await flo.dispatcher.claimDueSubjects({
      dispatcher_id: "dispatcher.inventory",
      limit: 10,
      lease_ms: 1000,
    });
    expect(claim.subjects).toEqual([]);
  });
});

it("says what to do where nobody has configured it", async () => {
  const syncing = flo.dispatcher.syncSubjects({ dispatcher_id: "a", subjects: [] });
  await expect(syncing).rejects.toMatchObject({ code: "flo.not_configured" });
});

function reference({ dispatcher_id, subject_key, revision }: flo.FloSubject): flo.FloReference {
  return { dispatcher_id, subject_key, revision };
}
