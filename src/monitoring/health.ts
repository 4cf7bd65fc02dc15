import { pause } from "../clock.ts";
import { PerdureError } from "../errors.ts";
import { findSchemaProblem } from "../store/migrate-store.ts";
import type { FragmentTables } from "../store/migration.ts";
import type { Store } from "../store/store.ts";

/** How one part of a process is doing. */
export interface HealthState {
  readonly ok: boolean;
  /** What is wrong, in one sentence; null if nothing is. */
  readonly problem: string | null;
}

export interface DispatcherHealth extends HealthState {
  /** When the dispatcher last looked for work; null if it hasn't yet. */
  readonly lastRoundAt: Date | null;
}

/** Whether a process can do its work. */
export interface Health {
  /** Whether every check is ok. */
  readonly ready: boolean;
  readonly checks: {
    /** Whether the database answers. */
    readonly database: HealthState;
    /** Whether its tables are those of this version. */
    readonly schema: HealthState;
    /** Whether the dispatcher of this process looks for work; null if this process runs none. */
    readonly dispatcher: DispatcherHealth | null;
  };
}

export interface HealthSubject {
  readonly store: Store;
  readonly namespace: string;
  /** The application's own tables. */
  readonly tables: FragmentTables | null;
}

/** Without an answer for this long, the database isn't healthy. */
const ANSWER_MS = 5000;
const OK: HealthState = { ok: true, problem: null };

/** Checks the health of a process. All checks at a time share one statement, however many callers ask. */
export class HealthCheck {
  readonly #subject: HealthSubject;
  /** The question to the database that isn't answered yet. */
  #asked: Promise<Omit<Health["checks"], "dispatcher">> | null = null;

  constructor(subject: HealthSubject) {
    this.#subject = subject;
  }

  /** Never rejects. */
  async check(): Promise<Health> {
    const { clock } = this.#subject.store;
    this.#asked ??= this.#askDatabase().finally(() => {
      this.#asked = null;
    });
    const over = new AbortController();
    const late = pause(clock, ANSWER_MS, over.signal).then(() => ({
      database: notOk(`The database hasn't answered for ${ANSWER_MS / 1000} seconds.`),
      schema: unknownSchema(),
    }));
    const answer = await Promise.race([this.#asked, late]);
    over.abort();
    const checks = { ...answer, dispatcher: this.#dispatcher() };
    return { ready: Object.values(checks).every((state) => state === null || state.ok), checks };
  }

  async #askDatabase(): Promise<Omit<Health["checks"], "dispatcher">> {
    const { store, namespace, tables } = this.#subject;
    try {
      const problem = await findSchemaProblem(store.engine, tables === null ? [] : [{ namespace, tables }]);
      return { database: OK, schema: problem === null ? OK : notOk(problem) };
    } catch (error) {
      // Messages may name hosts and users, so only the code is shown.
      const code = error instanceof PerdureError ? ` (${error.code})` : "";
      return { database: notOk(`The database can't be used${code}.`), schema: unknownSchema() };
    }
  }

  #dispatcher(): DispatcherHealth | null {
    const state = this.#subject.store.rounds.state();
    if (state === null) return null;
    const problem = "The dispatcher hasn't looked for work for over a minute longer than it should.";
    const lastRoundAt = state.lastAt === null ? null : new Date(state.lastAt);
    return { ...(state.inTime ? OK : notOk(problem)), lastRoundAt };
  }
}

function unknownSchema(): HealthState {
  return notOk("The database couldn't be asked.");
}

function notOk(problem: string): HealthState {
  return { ok: false, problem };
}
