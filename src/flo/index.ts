import { createLedger } from "../app/create-ledger.ts";
import { type LazyStore, lazyStore } from "../app/create-subject-dispatcher.ts";
import { checkDatabase } from "../app/open-database.ts";
import { PerdureError, RevisionConflictError } from "../errors.ts";
import { checkLogger, type Logger } from "../logger.ts";
import { checkOptions } from "../options.ts";
import type { Codec } from "../store/codec/codec.ts";
import type { DatabaseAdapter } from "../store/store.ts";
import { checkProfile, parseSettings, type SubjectRetries } from "../subjects/dispatcher-settings.ts";
import { SubjectDispatcher } from "../subjects/subject-dispatcher.ts";
import { invalid } from "../subjects/subject-inputs.ts";
import { SubjectLedger } from "../subjects/subject-ledger.ts";
import { type SubjectState, toListedSubject } from "../subjects/subject-state.ts";
import { checkFloError, toCamelCase, toFloSubject } from "./rename.ts";
import type { FloDispatcher, FloDispatcherState, FloSubject, FloSynced } from "./types.ts";

export type * from "./types.ts";
export { RevisionConflictError };

export interface FloOptions {
  /** A path (SQLite), a `postgres://` URL, or `sqlite(...)` or `postgres(...)`. Opened and migrated at the first use. */
  readonly database: string | DatabaseAdapter;
  /** Whose subjects scripts work on. */
  readonly profile: string;
  /** When a failed subject is due again, unless the script says. */
  readonly retries?: SubjectRetries;
  readonly logger?: Logger;
  /** Encrypts what is stored, if `database` is a path or a URL. Default: none. */
  readonly codec?: Codec;
}

interface FloLedger {
  readonly dispatcher: SubjectDispatcher;
  readonly ledger: SubjectLedger;
}

interface Runtime extends LazyStore {
  readonly options: FloOptions;
  readonly dispatchers: Map<string, FloLedger>;
}

let runtime: Runtime | undefined;

/**
 * Sets the database and profile of the subjects of this process, before the first call. Scripts pass neither.
 *
 * @example flo.configure({ database: "app.db", profile: "acme" });
 */
export function configure(options: FloOptions): void {
  checkOptions(options, { label: "flo.configure", fields: ["database", "profile", "retries", "logger", "codec"] });
  const { database, codec } = options;
  checkDatabase(database, { ...(codec && { codec }) });
  checkProfile(options.profile);
  parseSettings(settingsOf(options));
  const opening = { logger: checkLogger(options.logger), ...(codec && { codec }) };
  // The new configuration is valid: only now the database of an earlier one is closed.
  void runtime?.close().catch(() => {});
  runtime = { ...lazyStore(database, opening), options, dispatchers: new Map() };
}

/** Closes what `configure` opened. */
export async function close(): Promise<void> {
  const closing = runtime;
  runtime = undefined;
  await closing?.close();
}

function settingsOf({ retries }: FloOptions): { readonly retries?: SubjectRetries } {
  return retries === undefined ? {} : { retries };
}

function dispatcherOf(dispatcherId: unknown): FloLedger {
  if (runtime === undefined) {
    throw new PerdureError(
      "flo.not_configured",
      'flo.configure({ database: "app.db", profile: "…" }) says where the subjects are. Call it first.',
    );
  }
  const { options, dispatchers, store } = runtime;
  const known = dispatchers.get(dispatcherId as string);
  if (known !== undefined) return known;
  const settings = settingsOf(options);
  const ledger = createLedger({ profile: options.profile, dispatcherId: dispatcherId as string, settings, store });
  const created = { ledger, dispatcher: new SubjectDispatcher(ledger) };
  dispatchers.set(ledger.scope.dispatcherId, created);
  return created;
}

/** Takes the dispatcher's id out of the input, and returns the rest under our own names. */
async function ask<Result>(
  method: keyof FloDispatcher,
  input: unknown,
  call: (ledger: FloLedger, input: never) => Promise<Result>,
): Promise<Result> {
  const { dispatcherId, ...rest } = toCamelCase(input, method, ["dispatcher_id", ...FIELDS[method]]);
  try {
    return await call(dispatcherOf(dispatcherId), rest as never);
  } catch (error) {
    if (!(error instanceof RevisionConflictError)) throw error;
    const current = toFloSubject(error.current as SubjectState);
    throw new RevisionConflictError(
      current.subject_key,
      { given: Number(rest.revision), current: current.revision },
      current,
    );
  }
}

const REFERENCE = ["subject_key", "revision"];
const PROGRESS = [...REFERENCE, "cursor", "meta"];
const FIELDS: Readonly<Record<keyof FloDispatcher, readonly string[]>> = {
  syncSubjects: ["subjects"],
  claimDueSubjects: ["lease_ms", "limit"],
  checkpointSubject: [...PROGRESS, "lease_ms"],
  completeSubject: [...PROGRESS, "next_due_at"],
  failSubject: [...PROGRESS, "error", "next_due_at", "retry_after_ms"],
  releaseSubject: REFERENCE,
};
const DISCOVERED = ["subject_key", "cursor", "meta", "next_due_at"];
const USUAL_LIMIT = 10;

async function change<Cursor, Meta>(
  input: unknown,
  method: "checkpointSubject" | "completeSubject" | "failSubject" | "releaseSubject",
): Promise<FloSubject<Cursor, Meta>> {
  const state = await ask(method, input, ({ dispatcher }, options: Record<string, unknown>) => {
    const error = method === "failSubject" ? { error: checkFloError(options.error) } : {};
    return dispatcher[method]({ ...options, ...error } as never);
  });
  return toFloSubject(state as SubjectState<Cursor, Meta>);
}

/** A dispatcher has no row of its own. Its data is kept as a subject, under an id that no script can have. */
async function touchDispatcher({ scope, store, owner, settings }: SubjectLedger): Promise<FloDispatcherState> {
  const { profile, dispatcherId } = scope;
  const subjectKey = "dispatcher";
  const ledger = new SubjectLedger({ profile, dispatcherId: `${dispatcherId}~flo`, store, owner, settings });
  const meta = JSON.stringify((await store()).createId()); // it differs each time, so the row is updated
  await ledger.sync([{ subjectKey, group: null, cursor: null, meta, dueAt: null }], true);
  const record = await ledger.find(subjectKey);
  if (record === null) throw new PerdureError("subject.not_found", "The dispatcher was deleted while it was synced.");
  const toText = (time: number) => new Date(time).toISOString();
  return { dispatcher_id: dispatcherId, created_at: toText(record.createdAt), updated_at: toText(record.updatedAt) };
}

async function sync<Cursor, Meta>(input: unknown): Promise<FloSynced<Cursor, Meta>> {
  return ask("syncSubjects", input, async ({ dispatcher, ledger }, { subjects }: { subjects: unknown }) => {
    if (!Array.isArray(subjects)) throw invalid("subjects must be an array");
    const discovered = subjects.map((subject) => toCamelCase(subject, "A subject", DISCOVERED));
    await dispatcher.syncSubjects({ subjects: discovered } as never);
    const state = await touchDispatcher(ledger);
    const records = await ledger.findAll(discovered.map(({ subjectKey }) => subjectKey as string));
    const found = records.filter((record) => record !== null);
    return { dispatcher: state, subjects: found.map((record) => toFloSubject(toListedSubject<Cursor, Meta>(record))) };
  });
}

/** Subjects, word for word as scripts of the flo runtime call them. Leases belong to this process; scripts pass no owner. */
export const dispatcher: FloDispatcher = {
  syncSubjects: (input) => sync(input),
  claimDueSubjects: async <Cursor, Meta>(claim: object) => {
    const states = await ask("claimDueSubjects", claim, ({ dispatcher }, options: object) =>
      dispatcher.claimDueSubjects({ limit: USUAL_LIMIT, ...options } as never),
    );
    return { subjects: states.map((state) => toFloSubject(state as SubjectState<Cursor, Meta>)) };
  },
  checkpointSubject: (checkpoint) => change(checkpoint, "checkpointSubject"),
  completeSubject: (completion) => change(completion, "completeSubject"),
  failSubject: (failure) => change(failure, "failSubject"),
  releaseSubject: (reference) => change(reference, "releaseSubject"),
};
