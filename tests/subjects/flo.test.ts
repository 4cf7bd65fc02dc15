import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as flo from "../../src/flo/index.ts";
import { ENGINES } from "../support/engines.ts";
import { useDispatcher } from "./support/use-dispatcher.ts";

const now = () => new Date(fixture.clock.now()).toISOString();
let fixture: ReturnType<typeof useDispatcher>;

describe.each(ENGINES)("perdure/flo on $name", (engine) => {
  const under = useDispatcher(engine);
  beforeEach(() => {
    fixture = under;
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

  test("syncs, claims and checkpoints", async () => {
    const begin = now();
    const common = {
      dispatcher_id: "dispatcher.inventory",
      subject_key: "warehouse:cn-shenzhen",
      meta: { warehouse_id: "cn-shenzhen" },
      next_due_at: begin,
      failure_count: 0,
      consecutive_timeouts: 0,
      created_at: begin,
    };
    expect(await sync()).toStrictEqual({
      dispatcher: { dispatcher_id: "dispatcher.inventory", created_at: begin, updated_at: begin },
      subjects: [{ ...common, status: "idle", revision: 1, cursor: { page: 1 }, attempt: 0, updated_at: begin }],
    });
    fixture.clock.advance(1000);
    const running = await checkpoint();

    expect(running).toStrictEqual({
      ...common,
      status: "running",
      revision: 3,
      cursor: { page: 2, next_cursor: "cursor-2" },
      lease_owner_id: expect.any(String),
      lease_expires_at: new Date(fixture.clock.now() + 300_000).toISOString(),
      attempt: 1,
      last_started_at: now(),
      updated_at: now(),
    });
  });

  test("gives the subjects that were synced in the order in which they were given, and says when that was", async () => {
    const dispatcher_id = "d";
    const first = await flo.dispatcher.syncSubjects({ dispatcher_id, subjects: [{ subject_key: "b" }] });
    expect(first.subjects).toMatchObject([{ subject_key: "b" }]);
    const begin = now();
    fixture.clock.advance(1000);

    const subjects = ["c", "b", "a"].map((subject_key) => ({ subject_key, cursor: subject_key }));
    const second = await flo.dispatcher.syncSubjects({ dispatcher_id, subjects });
    expect(second.dispatcher).toStrictEqual({ dispatcher_id, created_at: begin, updated_at: now() });
    expect(second.subjects).toMatchObject(subjects);
    expect((await flo.dispatcher.claimDueSubjects({ dispatcher_id, lease_ms: 1000 })).subjects).toHaveLength(3);
  });

  test("claims ten without a limit", async () => {
    const subjects = Array.from({ length: 12 }, (_, index) => ({ subject_key: `${index}` }));
    await flo.dispatcher.syncSubjects({ dispatcher_id: "many", subjects });
    const claim = { dispatcher_id: "many", lease_ms: 1000 };
    expect((await flo.dispatcher.claimDueSubjects(claim)).subjects).toHaveLength(10);
    expect((await flo.dispatcher.claimDueSubjects({ ...claim, limit: undefined })).subjects).toHaveLength(2);
  });

  test("counts leases that run out in a row, until an owner says how it ended", async () => {
    await sync();
    for (const consecutive_timeouts of [0, 1, 2]) {
      expect(await claimOne()).toMatchObject({ consecutive_timeouts, attempt: consecutive_timeouts + 1 });
      fixture.clock.advance(5 * 60 * 1000);
    }
    const claimed = reference(await claimOne());
    const error = { code: "slow", message: "too slow" };
    const failed = await flo.dispatcher.failSubject({ ...claimed, error, retry_after_ms: 0 });
    expect(failed).toMatchObject({ consecutive_timeouts: 0, failure_count: 1, status: "failed" });
  });

  test("completes with a next due time", async () => {
    await sync();
    const running = await checkpoint();
    const next_due_at = new Date(fixture.clock.now() + 15 * 60 * 1000).toISOString();
    const done = await flo.dispatcher.completeSubject({
      dispatcher_id: running.dispatcher_id,
      subject_key: running.subject_key,
      revision: running.revision,
      cursor: running.cursor,
      meta: running.meta,
      next_due_at,
    });
    const ended = { last_success_at: now(), last_finished_at: now(), attempt: 0 };
    expect(done).toMatchObject({ status: "succeeded", next_due_at, cursor: { page: 2 }, ...ended });
    for (const field of ["lease_owner_id", "lease_expires_at", "last_error"]) expect(done).not.toHaveProperty(field);
    fixture.clock.advance(15 * 60 * 1000);
    expect(await claimOne()).toMatchObject({ status: "leased", last_started_at: now(), attempt: 1 });
  });

  test("leaves out the due time of a completed subject that rests", async () => {
    await sync();
    const running = await checkpoint();
    const done = await flo.dispatcher.completeSubject({ ...reference(running), next_due_at: undefined });
    expect(done).not.toHaveProperty("next_due_at");
    expect(done.status).toBe("succeeded");
  });

  test("fails with a retry hint", async () => {
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
      failure_count: 1,
      last_finished_at: now(),
      last_error: {
        code: "upstream_timeout",
        message: "warehouse API timed out",
        retryable: true,
        continuable: true,
      },
      next_due_at: new Date(fixture.clock.now() + 60_000).toISOString(),
    });
  });

  test("keeps an error as it was given, and gives what a handler threw in the same form", async () => {
    await sync();
    const error = { code: "gone", message: "no such warehouse", retryable: false, continuable: false };
    const failed = await flo.dispatcher.failSubject({ ...reference(await checkpoint()), error, retry_after_ms: 0 });
    expect(failed.last_error).toStrictEqual(error);

    const dispatcher = fixture.create({ dispatcherId: "dispatcher.inventory" });
    await dispatcher.runSubjects({
      handle: () => {
        throw new RangeError("page 0");
      },
    });
    fixture.clock.advance(3_600_000);
    expect((await claimOne()).last_error).toStrictEqual({
      code: "RangeError",
      message: "page 0",
      retryable: true,
      continuable: true,
    });
  });

  test("releases", async () => {
    await sync();
    const running = await checkpoint();
    const released = await flo.dispatcher.releaseSubject({
      dispatcher_id: running.dispatcher_id,
      subject_key: running.subject_key,
      revision: running.revision,
    });
    expect(released).toMatchObject({ status: "idle", attempt: 0, failure_count: 0 });
    expect(released).not.toHaveProperty("lease_owner_id");
    expect(await claimOne()).toMatchObject({ cursor: { page: 2, next_cursor: "cursor-2" } });
  });

  test("doesn't overwrite an active subject, and refreshes an inactive one", async () => {
    await sync();
    const running = await checkpoint();
    expect((await sync()).subjects).toStrictEqual([running]);
    const { dispatcher_id, subject_key, revision } = running;
    await flo.dispatcher.completeSubject({ dispatcher_id, subject_key, revision, next_due_at: now() });
    expect((await sync()).subjects).toMatchObject([{ status: "succeeded", cursor: { page: 1 } }]);
    expect(await claimOne()).toMatchObject({ cursor: { page: 1 } });
  });

  test("gives a conflict with the current state, in its own words", async () => {
    await sync();
    const running = await checkpoint();
    const stale = flo.dispatcher.releaseSubject({ ...reference(running), revision: 1 });
    const error = await stale.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(flo.RevisionConflictError);
    expect(error).toMatchObject({ code: "subject.revision_conflict", current: running });
  });

  test("refuses both hints, times that are none, and what isn't an object", async () => {
    await sync();
    const running = reference(await checkpoint());
    const error = { code: "no", message: "no" };
    const fail = (rest: object) => flo.dispatcher.failSubject({ ...running, error, ...rest });
    await expect(fail({ next_due_at: now(), retry_after_ms: 1 })).rejects.toMatchObject({ code: "subject.invalid" });
    await expect(fail({ next_due_at: "soon" })).rejects.toMatchObject({ code: "subject.invalid" });
    await expect(flo.dispatcher.claimDueSubjects(null as never)).rejects.toMatchObject({ code: "subject.invalid" });
  });

  test.each([
    ["a field that flo doesn't have", { retire: true }],
    ["a field of a subject that flo doesn't have", { subjects: [{ subject_key: "a", group: "g" }] }],
    ["subjects that aren't an array", { subjects: "a" }],
    ["a promise as a cursor", { subjects: [{ subject_key: "a", cursor: new Promise(() => {}) }] }],
  ])("refuses %s", async (_, rest) => {
    const syncing = flo.dispatcher.syncSubjects({ dispatcher_id: "d", subjects: [], ...rest } as never);
    await expect(syncing).rejects.toMatchObject({
      code: expect.stringMatching(/^(subject.invalid|value.unsupported)$/),
    });
  });

  test.each([
    1,
    "no",
    null,
    { code: "no" },
    { code: 1, message: "no" },
    { code: "no", message: "no", retryable: "yes" },
  ])("refuses %j as an error", async (error) => {
    await sync();
    const failing = flo.dispatcher.failSubject({ ...reference(await checkpoint()), error: error as never });
    await expect(failing).rejects.toMatchObject({ code: "subject.invalid" });
  });

  test("keeps its configuration when another is refused", async () => {
    const working = { database: fixture.database.toOpen(), profile: fixture.profile };
    flo.configure(working);
    await sync();
    const refused: readonly [object, string][] = [
      [{ ...working, database: "" }, "sqlite.path_invalid"],
      [{ ...working, database: "mysql://db" }, "options.invalid"],
      [{ ...working, profile: "" }, "text.invalid"],
      [{ ...working, retries: { delay: "soon" } }, "duration.invalid"],
      [{ ...working, retries: { limit: 5 } }, "retries.invalid"],
      [{ ...working, retries: { backoff: "none" } }, "retries.invalid"],
      [{ ...working, retries: 5 }, "retries.invalid"],
      [{ ...working, logger: {} }, "options.invalid"],
      [{ ...working, codec: {} }, "options.invalid"],
      [{ ...working, databases: 1 }, "options.invalid"],
    ];
    for (const [options, code] of refused) {
      expect(() => flo.configure(options as never)).toThrow(expect.objectContaining({ code }));
    }
    expect((await sync()).subjects).toMatchObject([{ status: "idle", revision: 1 }]);
  });

  test("keeps profiles apart", async () => {
    await sync();
    flo.configure({ database: fixture.database.adapter, profile: "another" });
    const claim = await flo.dispatcher.claimDueSubjects({
      dispatcher_id: "dispatcher.inventory",
      limit: 10,
      lease_ms: 1000,
    });
    expect(claim.subjects).toEqual([]);
  });
});

test("flo says what to do when it isn't configured", async () => {
  const syncing = flo.dispatcher.syncSubjects({ dispatcher_id: "a", subjects: [] });
  await expect(syncing).rejects.toMatchObject({ code: "flo.not_configured" });
});

function reference({ dispatcher_id, subject_key, revision }: flo.FloSubject): flo.FloReference {
  return { dispatcher_id, subject_key, revision };
}
