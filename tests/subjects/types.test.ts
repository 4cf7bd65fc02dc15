import { describe, expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import * as flo from "../../src/flo/index.ts";
import {
  type Application,
  createSubjectDispatcher,
  defineSubjects,
  type RunReport,
  type SubjectContext,
  type SubjectDispatcher,
  type SubjectState,
  type SubjectsDefinition,
} from "../../src/index.ts";

interface Cursor {
  readonly page: number;
}

interface Meta {
  readonly id: string;
}

/** Compiled, never run: the type checker is the test. */
function compile(_body: () => unknown): void {}

const where = { database: "app.db", profile: "p", dispatcherId: "d" };

describe("the types of subjects", () => {
  test("know the cursor and the meta everywhere", () => {
    compile(async () => {
      const dispatcher = createSubjectDispatcher<Cursor, Meta>(where);
      expectTypeOf(dispatcher).toEqualTypeOf<SubjectDispatcher<Cursor, Meta>>();
      const [claimed] = await dispatcher.claimDueSubjects({ limit: 1, leaseMs: 1000 });
      expectTypeOf(claimed).toEqualTypeOf<SubjectState<Cursor, Meta> | undefined>();
      expectTypeOf<SubjectState<Cursor, Meta>["cursor"]>().toEqualTypeOf<Cursor | null>();
      await dispatcher.checkpointSubject({ subjectKey: "a", revision: 1, cursor: { page: 1 }, meta: { id: "1" } });
      await dispatcher.failSubject({ subjectKey: "a", revision: 1, error: new Error("no"), retryAfterMs: 5 });
      expectTypeOf(await dispatcher.runSubjects({ handle: () => {} })).toEqualTypeOf<RunReport>();
      // @ts-expect-error the cursor is another
      await dispatcher.checkpointSubject({ subjectKey: "a", revision: 1, cursor: { offset: 1 } });
      // @ts-expect-error the revision is missing
      await dispatcher.completeSubject({ subjectKey: "a" });
      // @ts-expect-error the meta is another
      await dispatcher.syncSubjects({ subjects: [{ subjectKey: "a", meta: { id: 1 } }] });
      // @ts-expect-error subjects are never given up
      createSubjectDispatcher({ ...where, retries: { limit: 5 } });
      // @ts-expect-error the profile is missing
      createSubjectDispatcher({ database: "app.db", dispatcherId: "d" });
    });
    expect(createSubjectDispatcher).toBeTypeOf("function");
  });

  test("come from schemas", () => {
    compile(() => {
      const cursor = z.object({ page: z.number().default(1) });
      const dispatcher = createSubjectDispatcher({ ...where, cursor, meta: z.object({ id: z.string() }) });
      expectTypeOf(dispatcher).toEqualTypeOf<SubjectDispatcher<{ page: number }, { id: string }>>();
    });
  });

  test("go from the discovery to the handler", () => {
    compile(() => {
      const definition = defineSubjects({
        every: "1 hour",
        discover: async () => [{ subjectKey: "a", cursor: { page: 1 }, meta: { id: "1" } }],
        handle: async ({ cursor, meta }, context) => {
          expectTypeOf(cursor).toEqualTypeOf<{ page: number } | null>();
          expectTypeOf(meta).toEqualTypeOf<{ id: string } | null>();
          expectTypeOf(context).toEqualTypeOf<SubjectContext<{ page: number }, { id: string }>>();
          // @ts-expect-error the cursor is another
          await context.checkpoint({ offset: 1 });
          return { cursor: { page: 1 } };
        },
      });
      expectTypeOf(definition).toEqualTypeOf<SubjectsDefinition>();
      // @ts-expect-error the interval is missing
      defineSubjects({ handle: () => {} });
    });
  });

  test("are those of the application's dispatchers", () => {
    compile((app = {} as Application<Record<never, never>>) => {
      expectTypeOf(app.subjects.dispatcher<Cursor>("d")).toEqualTypeOf<SubjectDispatcher<Cursor, unknown>>();
      const defined = app.subjects.define("d", {
        every: "1 minute",
        discover: () => [{ subjectKey: "a", cursor: { page: 1 } }],
        handle: ({ cursor }) => void cursor?.page,
      });
      expectTypeOf(defined).toEqualTypeOf<SubjectDispatcher<{ page: number }, unknown>>();
    });
  });

  test("are there for scripts of flo", () => {
    compile(async () => {
      const claim = await flo.dispatcher.claimDueSubjects<Cursor, Meta>({
        dispatcher_id: "d",
        limit: 1,
        lease_ms: 1000,
      });
      expectTypeOf(claim.subjects).toEqualTypeOf<flo.FloSubject<Cursor, Meta>[]>();
      expectTypeOf<flo.FloSubject["next_due_at"]>().toEqualTypeOf<string | undefined>();
      expectTypeOf<keyof flo.FloSubject>().toEqualTypeOf<
        | "dispatcher_id"
        | "subject_key"
        | "status"
        | "cursor"
        | "meta"
        | "next_due_at"
        | "lease_owner_id"
        | "lease_expires_at"
        | "attempt"
        | "failure_count"
        | "consecutive_timeouts"
        | "last_error"
        | "last_started_at"
        | "last_finished_at"
        | "last_success_at"
        | "revision"
        | "created_at"
        | "updated_at"
      >();
      expectTypeOf<flo.FloSubject["status"]>().toEqualTypeOf<"idle" | "leased" | "running" | "succeeded" | "failed">();
      expectTypeOf<flo.FloError>().toEqualTypeOf<{
        readonly code: string;
        readonly message: string;
        readonly retryable: boolean;
        readonly continuable: boolean;
      }>();
      const synced = await flo.dispatcher.syncSubjects<Cursor, Meta>({ dispatcher_id: "d", subjects: [] });
      expectTypeOf(synced.subjects).toEqualTypeOf<flo.FloSubject<Cursor, Meta>[]>();
      expectTypeOf(synced.dispatcher.created_at).toEqualTypeOf<string>();
      // @ts-expect-error the lease is missing
      await flo.dispatcher.claimDueSubjects({ dispatcher_id: "d" });
      // @ts-expect-error flo has no groups
      await flo.dispatcher.syncSubjects({ dispatcher_id: "d", subjects: [{ subject_key: "a", group: "g" }] });
      const reference = { dispatcher_id: "d", subject_key: "a", revision: 1 };
      expectTypeOf(
        await flo.dispatcher.checkpointSubject({ ...reference, cursor: { page: 1 } as Cursor }),
      ).toEqualTypeOf<flo.FloSubject<Cursor, flo.FloJson>>();
      // @ts-expect-error times are texts here
      await flo.dispatcher.completeSubject({ ...reference, next_due_at: new Date() });
    });
  });
});
