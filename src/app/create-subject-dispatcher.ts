import { checkLogger, type Logger } from "../logger.ts";
import { checkOptions } from "../options.ts";
import type { Codec } from "../store/codec/codec.ts";
import { migrateEngine } from "../store/migrate-store.ts";
import type { DatabaseAdapter, Store } from "../store/store.ts";
import { SETTINGS_FIELDS, type SubjectSettings } from "../subjects/dispatcher-settings.ts";
import { HANDLING_FIELDS, type RunOptions, type RunReport } from "../subjects/run-subjects.ts";
import { SubjectDispatcher } from "../subjects/subject-dispatcher.ts";
import { createLedger } from "./create-ledger.ts";
import { checkDatabase, type OpenOptions, openDatabase } from "./open-database.ts";

export interface SubjectDispatcherOptions<Cursor = unknown, Meta = unknown> extends SubjectSettings<Cursor, Meta> {
  /** A path (SQLite), a `postgres://` URL, or `sqlite(...)` or `postgres(...)`. Opened and migrated at the first use. */
  readonly database: string | DatabaseAdapter;
  /** Separates the subjects of several customers, environments or applications in one database. */
  readonly profile: string;
  /** Names the work that is done for each subject, such as `inventory`. */
  readonly dispatcherId: string;
  readonly logger?: Logger;
  /** Encrypts stored values, if `database` is a path or a URL. Default: none. */
  readonly codec?: Codec;
}

const FIELDS = ["database", "profile", "dispatcherId", "logger", "codec", ...SETTINGS_FIELDS];

/**
 * Coordinates work over many subjects, from anywhere: a script, a hook, a step of a workflow.
 *
 * @example
 * await using dispatcher = createSubjectDispatcher({ database: "app.db", profile: "acme", dispatcherId: "inventory" });
 * const claimed = await dispatcher.claimDueSubjects({ limit: 10, leaseMs: 60_000 });
 */
export function createSubjectDispatcher<Cursor = unknown, Meta = unknown>(
  options: SubjectDispatcherOptions<Cursor, Meta>,
): SubjectDispatcher<Cursor, Meta> {
  checkOptions(options, { label: "createSubjectDispatcher", fields: FIELDS });
  const { profile, dispatcherId, database, codec } = options;
  checkDatabase(database, { ...(codec && { codec }) });
  const opened = lazyStore(database, { logger: checkLogger(options.logger), ...(codec && { codec }) });
  const ledger = createLedger({ profile, dispatcherId, settings: options, store: opened.store });
  return new SubjectDispatcher<Cursor, Meta>(ledger, opened.close);
}

/**
 * Discovers subjects and handles those that are due, in one call: for scripts and other schedulers.
 *
 * @example
 * await runSubjects({ database: "app.db", profile: "acme", dispatcherId: "inventory", discover, handle });
 */
export async function runSubjects<Cursor = unknown, Meta = unknown>(
  options: SubjectDispatcherOptions<Cursor, Meta> & RunOptions<Cursor, Meta>,
): Promise<RunReport> {
  const runFields = [...HANDLING_FIELDS, "every", "signal"];
  checkOptions(options, { label: "runSubjects", fields: [...FIELDS, ...runFields] });
  const entries = Object.entries(options);
  const pick = (wanted: boolean) => Object.fromEntries(entries.filter(([name]) => runFields.includes(name) === wanted));
  await using dispatcher = createSubjectDispatcher(pick(false) as unknown as SubjectDispatcherOptions<Cursor, Meta>);
  return await dispatcher.runSubjects(pick(true) as unknown as RunOptions<Cursor, Meta>);
}

export interface LazyStore {
  readonly store: () => Promise<Store>;
  readonly close: () => Promise<void>;
}

/** A database that is opened and migrated on first use. A database that the caller opened stays open. */
export function lazyStore(database: string | DatabaseAdapter, options: OpenOptions): LazyStore {
  let opening: Promise<Store> | undefined;
  const open = async () => {
    const { store } = typeof database === "string" ? await openDatabase(database, options) : database;
    try {
      await migrateEngine(store.engine, []);
    } catch (error) {
      if (typeof database === "string") await store.close();
      throw error;
    }
    return store;
  };
  return {
    store: () => {
      opening ??= open().catch((error: unknown) => {
        opening = undefined; // the next call may succeed
        throw error;
      });
      return opening;
    },
    close: async () => {
      if (typeof database === "string") await (await opening)?.close();
    },
  };
}
