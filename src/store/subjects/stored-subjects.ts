import type { Dialect } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { GroupCommit } from "../group-commit.ts";
import type {
  SubjectChange,
  SubjectChangeResult,
  SubjectScope,
  SubjectSync,
  SyncBatch,
  SyncCounts,
} from "./subject-records.ts";
import type { SubjectStatements } from "./subject-statements.ts";

/** A sync of many subjects is sent in parts of so many. SQLite blocks the event loop while it writes one. */
const SYNC_ROWS: Record<Dialect, number> = { postgres: 5000, sqlite: 1000 };

interface Retirement extends SubjectScope {
  readonly subjectKeys: readonly string[];
}

/** Subjects in the database: changes of many at once share statements, and what may be sent again is. */
export class StoredSubjects {
  readonly statements: SubjectStatements;
  readonly #engine: Engine;
  readonly #changes: GroupCommit<SubjectChange, SubjectChangeResult>;
  readonly #syncs: GroupCommit<SyncBatch, SyncCounts>;
  readonly #retirements: GroupCommit<Retirement, number>;

  constructor(engine: Engine) {
    const { clock, flushesInFlight, subjects } = engine;
    this.statements = subjects;
    this.#engine = engine;
    this.#changes = new GroupCommit({
      clock,
      flush: (changes, sending) => subjects.change(changes, sending),
      flushesInFlight,
      measure: ({ cursor, meta, error }) => ({ rows: 1, bytes: lengthOf(cursor) + lengthOf(meta) + lengthOf(error) }),
    });
    // One at a time: a large one is sent in parts, and between them others have their turn.
    this.#syncs = new GroupCommit({
      clock,
      flush: ([batch]) => subjects.sync(batch as SyncBatch).then((counts) => [counts]),
      flushesInFlight,
      measure: () => ({ rows: 1, bytes: 0 }),
      maxRows: 1,
    });
    this.#retirements = new GroupCommit({
      clock,
      flush: async ([retirement]) => {
        const { subjectKeys, ...scope } = retirement as Retirement;
        return [await subjects.retire(scope, subjectKeys)];
      },
      flushesInFlight: 1,
      measure: () => ({ rows: 1, bytes: 0 }),
      maxRows: 1,
    });
  }

  async change(change: SubjectChange): Promise<SubjectChangeResult> {
    this.#engine.refuseNesting();
    return this.#changes.add(change);
  }

  /** Part by part: what is written stays if a later part fails, and is found unchanged when it is sent again. */
  async sync(batch: SyncBatch): Promise<SyncCounts> {
    this.#engine.refuseNesting();
    let [created, refreshed] = [0, 0];
    for (const subjects of inParts(batch.subjects, SYNC_ROWS[this.#engine.dialect])) {
      const counts = await this.#syncs.add({ ...batch, subjects });
      created += counts.created;
      refreshed += counts.refreshed;
    }
    return { created, refreshed };
  }

  async retire(scope: SubjectScope, subjectKeys: readonly string[]): Promise<number> {
    this.#engine.refuseNesting();
    return this.#retirements.add({ ...scope, subjectKeys });
  }

  /** Resolves when nothing is on its way to the database any more. */
  async idle(): Promise<void> {
    await Promise.all([this.#changes.idle(), this.#syncs.idle(), this.#retirements.idle()]);
  }
}

function inParts(subjects: readonly SubjectSync[], rows: number): SubjectSync[][] {
  const parts: SubjectSync[][] = [];
  for (let start = 0; start < subjects.length; start += rows) parts.push(subjects.slice(start, start + rows));
  return parts;
}

function lengthOf(text: string | null): number {
  return text?.length ?? 0;
}
