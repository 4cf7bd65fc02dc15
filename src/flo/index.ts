import { createLedger } from "../app/create-ledger.ts";
import { type LazyStore, lazyStore } from "../app/create-subject-dispatcher.ts";
import { checkDatabase } from "../app/open-database.ts";
import { PerdureError, RevisionConflictError } from "../errors.ts";
import { checkLogger, type Logger } from "../logger.ts";
import { checkOptions } from "../options.ts";
import type { Codec } from "../store/codec/codec.ts";
import type { DatabaseAdapter } from "../store/store.ts";
import { invalid } from "../subjects/check-inputs.ts";
import { checkProfile, type SubjectRetries } from "../subjects/dispatcher-settings.ts";
import { SubjectDispatcher } from "../subjects/subject-dispatcher.ts";
import type { SubjectState } from "../subjects/subject-state.ts";
import { toCamelCase, toFloSubject } from "./rename.ts";
import type { FloDispatcher, FloSubject } from "./types.ts";

export type * from "./types.ts";
export { RevisionConflictError };

export interface FloOptions {
  /** A path (SQLite), a `postgres://` URL, or `sqlite(...)` or `postgres(...)`. Opened and migrated at the first use. */
  readonly database: string | DatabaseAdapter;
  /** Whose subjects scripts work on. */
  readonly profile: string;
  /** When a failed subject is due again, if nobody says. */
  readonly retries?: SubjectRetries;
  readonly logger?: Logger;
  /** Encrypts what is stored, if `database` is a path or a URL. Default: none. */
  readonly codec?: Codec;
}

interface Runtime extends LazyStore {
  readonly options: FloOptions;
  readonly dispatchers: Map<string, SubjectDispatcher>;
}

let runtime: Runtime | undefined;

/**
 * Says where the subjects of this process are, before the first call. Scripts pass neither a database nor a profile.
 *
 * @example
 * flo.configure({ database: "app.db", profile: "acme" });
 */
export function configure(options: FloOptions): void {
  checkOptions(options, { label: "flo.configure", fields: ["database", "profile", "retries", "logger", "codec"] });
  const { database, codec } = options;
  checkDatabase(database, codec);
  checkProfile(options.profile);
  void runtime?.close().catch(() => {}); // of an earlier configuration
  const opening = { logger: checkLogger(options.logger), ...(codec && { codec }) };
  runtime = { ...lazyStore(database, opening), options, dispatchers: new Map() };
}

/** Closes what `configure` opened. */
export async function close(): Promise<void> {
  const closing = runtime;
  runtime = undefined;
  await closing?.close();
}

function dispatcherOf(dispatcherId: unknown): SubjectDispatcher {
  if (runtime === undefined) {
    throw new PerdureError(
      "flo.not_configured",
      'Nobody has said where the subjects are: call flo.configure({ database: "app.db", profile: "…" }) first.',
    );
  }
  const { options, dispatchers, store } = runtime;
  const known = dispatchers.get(dispatcherId as string);
  if (known !== undefined) return known;
  const settings = options.retries === undefined ? {} : { retries: options.retries };
  const ledger = createLedger({ profile: options.profile, dispatcherId: dispatcherId as string, settings, store });
  const created = new SubjectDispatcher(ledger);
  dispatchers.set(created.dispatcherId, created);
  return created;
}

/** Takes the dispatcher's id out of the input, and gives the rest in our own words. */
async function ask<Input extends object, Result>(
  input: object,
  call: (dispatcher: SubjectDispatcher, input: Input) => Promise<Result>,
): Promise<Result> {
  if (typeof input !== "object" || input === null) throw invalid("Calls of flo.dispatcher take an object");
  const { dispatcher_id, ...rest } = input as { dispatcher_id?: unknown };
  try {
    return await call(dispatcherOf(dispatcher_id), toCamelCase(rest) as Input);
  } catch (error) {
    if (!(error instanceof RevisionConflictError)) throw error;
    const current = toFloSubject(error.current as SubjectState);
    const given = Number((rest as { revision?: unknown }).revision);
    throw new RevisionConflictError(current.subject_key, { given, current: current.revision }, current);
  }
}

async function change<Cursor, Meta>(
  input: object,
  method: "checkpointSubject" | "completeSubject" | "failSubject" | "releaseSubject",
): Promise<FloSubject<Cursor, Meta>> {
  const state = await ask(input, (one, options) => one[method](options as never));
  return toFloSubject(state as SubjectState<Cursor, Meta>);
}

/** Subjects, word for word as scripts of the flo runtime call them. Leases belong to this process; nobody passes an owner. */
export const dispatcher: FloDispatcher = {
  syncSubjects: (sync) =>
    ask<{ subjects: object[] }, Awaited<ReturnType<SubjectDispatcher["syncSubjects"]>>>(sync, (one, options) => {
      if (!Array.isArray(options.subjects)) throw invalid("subjects must be an array");
      const subjects = options.subjects.map((subject) => toCamelCase(Object(subject)));
      return one.syncSubjects({ ...options, subjects } as never);
    }),
  claimDueSubjects: async <Cursor, Meta>(claim: object) => {
    const states = await ask(claim, (one, options) => one.claimDueSubjects(options as never));
    return { subjects: states.map((state) => toFloSubject(state as SubjectState<Cursor, Meta>)) };
  },
  checkpointSubject: (checkpoint) => change(checkpoint, "checkpointSubject"),
  completeSubject: (completion) => change(completion, "completeSubject"),
  failSubject: (failure) => change(failure, "failSubject"),
  releaseSubject: (reference) => change(reference, "releaseSubject"),
};
