import { describe, expect, test } from "vitest";
import { z } from "zod";
import { createSubjectDispatcher, type SubjectDispatcher } from "../../src/index.ts";
import { postgres } from "../../src/store/postgres/index.ts";
import { ENGINES } from "../support/engines.ts";
import { createDatabase } from "../support/postgres-database.ts";
import { SILENT, useDispatcher } from "./support/use-dispatcher.ts";

const never = () => new Promise<never>(() => {});

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function cycle(): object {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}

const UNSTORABLE: readonly [name: string, make: () => unknown, code: string][] = [
  ["a function", () => () => 1, "value.unsupported"],
  ["a class instance inside", () => ({ page: new URL("https://example.com") }), "value.unsupported"],
  ["a promise", () => Promise.resolve({ page: 1 }), "value.unsupported"],
  ["a promise that never resolves", never, "value.unsupported"],
  ["such a promise inside", () => ({ page: [never()] }), "value.unsupported"],
  ["a revoked proxy", revokedProxy, "value.unsupported"],
  ["a cycle", cycle, "value.cycle"],
  ["more than a megabyte", () => "x".repeat(1024 * 1024), "value.too_large"],
];

describe.each(ENGINES)("values of subjects on $name", (engine) => {
  const fixture = useDispatcher(engine);
  const RETRIES = { retries: { delay: "1 minute", backoff: "constant" } } as const;

  async function claimOne(dispatcher: SubjectDispatcher) {
    await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a", cursor: { page: 1 }, meta: { id: 1 } }] });
    const [claimed] = await dispatcher.claimDueSubjects({ limit: 1, leaseMs: 60_000 });
    if (claimed === undefined) throw new Error("Expected a subject.");
    return claimed;
  }

  test.each(UNSTORABLE)("make a handler fail that returns %s, with backoff", async (_, make, code) => {
    for (const field of ["cursor", "meta"] as const) {
      const dispatcher = fixture.create(RETRIES);
      const subjectKey = `of ${field}`;
      const discover = () => [{ subjectKey, cursor: { page: 1 } }];
      const report = await dispatcher.runSubjects({ discover, handle: () => ({ [field]: make() }) });

      expect(report).toMatchObject({ claimed: 1, completed: 0, failed: 1, lost: 0 });
      expect(await dispatcher.getSubject(subjectKey)).toMatchObject({
        status: "failed",
        cursor: { page: 1 },
        meta: null,
        consecutiveFailures: 1,
        lastError: expect.objectContaining({ code, message: expect.stringContaining(`${field}`) }),
        nextDueAt: new Date(fixture.clock.now() + 60_000),
      });
    }
  });

  test("make a handler fail whose result doesn't pass the schema", async () => {
    const dispatcher = fixture.create({ ...RETRIES, cursor: z.object({ page: z.number() }) });
    const report = await dispatcher.runSubjects({
      discover: () => [{ subjectKey: "a", cursor: { page: 1 } }],
      handle: () => ({ cursor: { page: "two" } as never }),
    });

    expect(report).toMatchObject({ failed: 1, lost: 0 });
    expect(await dispatcher.getSubject("a")).toMatchObject({
      consecutiveFailures: 1,
      lastError: expect.objectContaining({ code: "subject.invalid", message: expect.stringContaining("page") }),
    });
  });

  test.each(UNSTORABLE)("are refused at once if they are %s, and nothing changes", async (_, make, code) => {
    for (const cursor of [undefined, z.any()]) {
      fixture.nextProfile();
      const dispatcher = fixture.create(cursor === undefined ? {} : { cursor, meta: cursor });
      const { subjectKey, revision } = await claimOne(dispatcher);
      const before = await dispatcher.getSubject(subjectKey);
      for (const field of ["cursor", "meta"]) {
        const change = { subjectKey, revision, [field]: make() };
        const expected = { code };
        await expect(dispatcher.checkpointSubject(change)).rejects.toMatchObject(expected);
        await expect(dispatcher.completeSubject(change)).rejects.toMatchObject(expected);
        await expect(dispatcher.failSubject({ ...change, error: "no" })).rejects.toMatchObject(expected);
        const syncing = dispatcher.syncSubjects({ subjects: [{ subjectKey: "b" }, { subjectKey, [field]: make() }] });
        await expect(syncing).rejects.toMatchObject(expected);
      }
      expect(await dispatcher.getSubject(subjectKey)).toEqual(before);
      expect(await dispatcher.getSubject("b")).toBeNull();
    }
  });

  test("aren't waited for where subjects are promises", async () => {
    const dispatcher = fixture.create();
    const subjects = [never()] as never[];
    await expect(dispatcher.syncSubjects({ subjects })).rejects.toMatchObject({ code: "subject.invalid" });
    function* discover() {
      yield* subjects;
    }
    await expect(dispatcher.runSubjects({ discover, handle: () => {} })).rejects.toMatchObject({
      code: "subject.invalid",
    });
  });

  test("that a handler throws are a failure, whatever they are", async () => {
    const dispatcher = fixture.create(RETRIES);
    const thrown = [revokedProxy(), undefined, () => {}, never()];
    const report = await dispatcher.runSubjects({
      discover: () => thrown.map((_, index) => ({ subjectKey: `${index}` })),
      handle: ({ subjectKey }) => {
        throw thrown[Number(subjectKey)];
      },
    });

    expect(report).toMatchObject({ failed: thrown.length, lost: 0 });
  });

  test("of a newer version keep only their own subject from its handler", async () => {
    const dispatcher = fixture.create(RETRIES);
    const { profile, dispatcherId } = dispatcher;
    const written = { group: null, cursor: null, meta: null, dueAt: null };
    const later = '{"$perdure":"of tomorrow","value":1}';
    const subjects = [
      { ...written, subjectKey: "a", cursor: later },
      { ...written, subjectKey: "b", meta: later },
      { ...written, subjectKey: "c" },
    ];
    await fixture.database.store.subjects.sync({ profile, dispatcherId, subjects, keepProgress: false });
    const handled: string[] = [];
    const report = await dispatcher.runSubjects({ handle: ({ subjectKey }) => void handled.push(subjectKey) });

    expect(report).toMatchObject({ claimed: 1, completed: 1 });
    expect(handled).toEqual(["c"]);
    const [record] = await fixture.database.store.subjects.statements.find([
      { profile, dispatcherId, subjectKey: "a" },
    ]);
    expect(record).toMatchObject({ status: "failed", cursor: later, failures: 1, dueAt: fixture.clock.now() + 60_000 });
  });
});

describe("values of subjects in a PostgreSQL database that isn't Unicode", () => {
  test("make a handler fail if its encoding doesn't have them, in results and in errors", async () => {
    const database = await createDatabase({ empty: true, encoding: "LATIN1" });
    const adapter = postgres(database.url, { logger: SILENT });
    try {
      const dispatcher = createSubjectDispatcher({ database: adapter, profile: "p", dispatcherId: "d" });
      const report = await dispatcher.runSubjects({
        discover: () => [{ subjectKey: "returns" }, { subjectKey: "throws" }, { subjectKey: "works" }],
        handle: ({ subjectKey }) => {
          if (subjectKey === "throws") throw new Error("a snowman: ☃");
          return { cursor: subjectKey === "returns" ? "☃" : "ö" };
        },
      });

      expect(report).toMatchObject({ claimed: 3, completed: 1, failed: 2, lost: 0 });
      for (const subjectKey of ["returns", "throws"]) {
        expect(await dispatcher.getSubject(subjectKey)).toMatchObject({
          status: "failed",
          consecutiveFailures: 1,
          lastError: expect.objectContaining({ message: expect.stringContaining("LATIN1") }),
        });
      }
    } finally {
      await adapter.store.close();
      await database.drop();
    }
  });
});
