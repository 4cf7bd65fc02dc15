import { InvalidInputError, PerdureError } from "../errors.ts";
import type { Store } from "../store/store.ts";
import { defineSubjects, type SubjectsDefinition, type SubjectsOptions } from "../subjects/define-subjects.ts";
import type { SubjectSettings } from "../subjects/dispatcher-settings.ts";
import { SubjectDispatcher } from "../subjects/subject-dispatcher.ts";
import { earliest, SubjectSchedule } from "../subjects/subject-schedule.ts";
import { createLedger } from "./create-ledger.ts";

/** The subjects of an application, in its own database. Their profile is the application's namespace. */
export class ApplicationSubjects {
  readonly #store: Store;
  readonly #profile: string;
  readonly #runs: boolean;
  readonly #listens: () => boolean;
  readonly #schedules = new Map<string, SubjectSchedule>();
  #stopped = false;

  /** `listens`: whether a drain claims subjects that become due meanwhile. @internal */
  constructor(store: Store, profile: string, runs: boolean, listens: () => boolean = () => true) {
    this.#store = store;
    this.#profile = profile;
    this.#runs = runs;
    this.#listens = listens;
  }

  /**
   * Discovers and handles subjects on an interval, in this process and all others that define the same; leases keep them apart.
   * Returns the dispatcher.
   *
   * @example
   * app.subjects.define("inventory", { every: "15 minutes", discover, handle });
   */
  define<Cursor = unknown, Meta = unknown>(
    dispatcherId: string,
    options: SubjectsOptions<Cursor, Meta>,
  ): SubjectDispatcher<Cursor, Meta> {
    this.register(dispatcherId, defineSubjects(options));
    const { cursor, meta, retries } = options;
    return this.dispatcher(dispatcherId, definedOnly({ cursor, meta, retries }));
  }

  /** A dispatcher in the application's database: for hooks, steps of workflows, and operators. */
  dispatcher<Cursor = unknown, Meta = unknown>(
    dispatcherId: string,
    settings: SubjectSettings<Cursor, Meta> = {},
  ): SubjectDispatcher<Cursor, Meta> {
    return new SubjectDispatcher(this.#ledger(dispatcherId, settings));
  }

  /** The subjects that this process defines. */
  get dispatcherIds(): readonly string[] {
    return [...this.#schedules.keys()];
  }

  /** @internal */
  register(dispatcherId: string, definition: SubjectsDefinition): void {
    checkDefinition(dispatcherId, definition);
    if (this.#stopped) throw new PerdureError("store.closed", "The application was stopped.");
    if (this.#schedules.has(dispatcherId)) {
      throw new InvalidInputError("subject.invalid", `The subjects "${dispatcherId}" are defined twice.`);
    }
    const ledger = this.#ledger(dispatcherId, definition.options);
    const schedule = new SubjectSchedule(this.#store, ledger, definition);
    this.#schedules.set(dispatcherId, schedule);
    if (this.#runs) schedule.start();
  }

  /** @internal */
  wake(): void {
    if (this.#runs) for (const schedule of this.#schedules.values()) schedule.wake();
  }

  /** Milliseconds until a subject that this process defines is due; null if none waits. @internal */
  async nextWake(): Promise<number | null> {
    const wakes = await Promise.all(Array.from(this.#schedules.values(), (schedule) => schedule.nextWake()));
    return earliest(wakes);
  }

  /** Handles due subjects that this process defines, until there are none or until the deadline. Returns how many. @internal */
  async drain(deadlineMs: number): Promise<number> {
    const schedules = [...this.#schedules.values()];
    const counts = await Promise.all(schedules.map((schedule) => schedule.drain(deadlineMs, this.#listens)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** @internal */
  async stop(deadlineMs = 30_000): Promise<void> {
    this.#stopped = true;
    await Promise.all(Array.from(this.#schedules.values(), (schedule) => schedule.stop(deadlineMs)));
  }

  #ledger(dispatcherId: string, settings: SubjectSettings) {
    const store = async () => this.#store;
    return createLedger({ profile: this.#profile, dispatcherId, settings, store });
  }
}

/** Checked before a database is opened. */
export function checkDefinition(dispatcherId: string, definition: SubjectsDefinition): void {
  if (definition?.kind === "subjects") return;
  throw new InvalidInputError(
    "subject.invalid",
    `The subjects "${dispatcherId}" must be made by defineSubjects({ every, discover, handle }).`,
  );
}

function definedOnly<Cursor, Meta>(
  settings: {
    [Field in keyof SubjectSettings]?: SubjectSettings<Cursor, Meta>[Field] | undefined;
  },
): SubjectSettings<Cursor, Meta> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}
