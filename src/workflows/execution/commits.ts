import { pause } from "../../clock.ts";
import { isInfrastructure, ValueRefusedError } from "../../errors.ts";
import type {
  ClaimedInstance,
  InstanceCommit,
  InstanceCommitResult,
  InstanceOutcome,
  JournalEntry,
  NewEntry,
} from "../../store/instances/instance-records.ts";
import type { ExecutionHost } from "./execution-host.ts";
import type { Hold } from "./hold.ts";
import { isFinal, RUNNING } from "./outcomes.ts";
import { isBodysEnd, withoutValue } from "./refused-values.ts";
import type { RunLimits } from "./run-limits.ts";
import { pathOf } from "./steps/step-path.ts";

export type WrittenCommit = Extract<InstanceCommitResult, { result: "written" }>;

/**
 * The part of a commit that the database can never store: a value of a step, the ending of the run, or a step altogether,
 * because its name can't be stored.
 */
export type RefusedPart = "step" | "outcome" | NewEntry;

/** The execution that writes commits, and learns the outcome of each. */
export interface CommitOwner {
  /** `askedAt` is the monotonic time at which it was sent. */
  written(commit: InstanceCommit, answer: WrittenCommit, askedAt: number): void;
  supersede(): void;
  /** The store failed. */
  fail(error: unknown): void;
  /** The database hasn't accepted it for this many milliseconds; it is sent again. */
  delayed(error: unknown, milliseconds: number): void;
  /** A part of it can never be stored, and everything before it is. */
  refused(part: RefusedPart, error: ValueRefusedError): void;
  /** Whether its steps are being rolled back. */
  readonly undoes: boolean;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Never changed, and never sent. */
const NO_ENTRIES: NewEntry[] = [];

/** The commits of an execution: one at a time, each at the position where the last one ended. */
export class Commits {
  readonly #instance: ClaimedInstance;
  readonly #host: ExecutionHost;
  readonly #hold: Hold;
  readonly #limits: RunLimits;
  readonly #owner: CommitOwner;
  /** Where the next entry goes. */
  #position = 1;
  #pending = NO_ENTRIES;
  /** Whether a step's transaction will write the next commit. */
  #reserved = false;
  /** Entries that go with the transaction's own. */
  #sealed: NewEntry[] | null = null;
  /** The commit that is on its way, when it was sent, and how often the instance had been paused or resumed by then. */
  #writing: InstanceCommit | null = null;
  #askedAt = 0;
  #pauseChanges = 0;
  /** Called when nothing is on its way any more. */
  #idle: (() => void)[] | undefined;
  /** Whether a commit wasn't written, as far as we know: later ones must not be, either. */
  #broken = false;
  /** Aborted when the process is about to end. Created when a commit must be sent again. */
  #patience: AbortController | undefined;
  #givenUp = false;

  constructor(instance: ClaimedInstance, host: ExecutionHost, hold: Hold, limits: RunLimits, owner: CommitOwner) {
    this.#instance = instance;
    this.#host = host;
    this.#hold = hold;
    this.#limits = limits;
    this.#owner = owner;
  }

  /** These entries are in the journal already. */
  continueAfter(entries: readonly JournalEntry[]): void {
    this.#position = (entries.at(-1)?.position ?? 0) + 1;
    for (const entry of entries) this.#limits.add(entry);
  }

  /** Whether there are entries for the next commit. */
  get pending(): boolean {
    return this.#pending.length > 0;
  }

  /** Whether the next commit says that something was done: progress alone doesn't. */
  get substantial(): boolean {
    return this.#pending.some(isSubstantial);
  }

  get writing(): boolean {
    return this.#writing !== null;
  }

  /** Whether the commit that is on its way lets go of the instance. */
  get writingLast(): boolean {
    return this.#writing !== null && isFinal(this.#writing.outcome);
  }

  /** Whether the next commit is a transaction's, so that no other can be written. */
  get reserved(): boolean {
    return this.#reserved;
  }

  /** Where the next entry goes. */
  get position(): number {
    return this.#position;
  }

  /** The next commit is a transaction's. */
  reserve(): void {
    this.#reserved = true;
  }

  /** The commit for the transaction to write: everything that was added, and the entry of its step. */
  seal(entry: NewEntry): InstanceCommit {
    this.#sealed ??= this.#pending.splice(0);
    this.#pauseChanges = this.#hold.pauseChanges;
    this.#askedAt = this.#host.clock.monotonic();
    return this.#create([...this.#sealed, entry], RUNNING);
  }

  /** The transaction has written it. */
  sealWritten(commit: InstanceCommit, answer: WrittenCommit): void {
    this.#limits.add(commit.entries.at(-1) as NewEntry);
    this.#position += commit.entries.length;
    this.#sealed = null;
    this.#reserved = false;
    this.#settle();
    this.#tellWritten(commit, answer);
  }

  /** The transaction hasn't written it: its entries wait for the next commit. */
  unseal(): void {
    if (this.#sealed !== null) this.#pending = [...this.#sealed, ...this.#pending];
    this.#sealed = null;
  }

  /** The transaction is over, and was rolled back. `broken`: that isn't known. */
  release({ broken }: { readonly broken: boolean }): void {
    this.unseal();
    this.#broken ||= broken;
    this.#reserved = false;
    this.#settle();
  }

  /** Adds an entry to the next commit. */
  add(entry: NewEntry): void {
    this.#limits.add(entry);
    if (this.#pending === NO_ENTRIES) this.#pending = [entry];
    else this.#pending.push(entry);
  }

  /** Writes the entries that were added, and the outcome. */
  write(outcome: InstanceOutcome): void {
    const entries = this.#pending;
    this.#pending = NO_ENTRIES;
    const commit = this.#create(entries, outcome);
    this.#writing = commit;
    this.#pauseChanges = this.#hold.pauseChanges;
    this.#askedAt = this.#host.clock.monotonic();
    this.#host.commit(commit, this.#instance).then(this.#answered, this.#notTaken);
  }

  /** Writes the last commit, whose answer goes to no owner. `outcome` learns whether an entry shows progress. */
  async writeLast(outcome: (substantial: boolean) => InstanceOutcome): Promise<void> {
    if (this.#writing !== null || this.#reserved) {
      await new Promise<void>((resolve) => {
        this.#idle ??= [];
        this.#idle.push(resolve);
      });
    }
    const entries = this.#broken ? NO_ENTRIES : this.#pending;
    this.#pending = NO_ENTRIES;
    await this.#host.commit(this.#create(entries, outcome(entries.some(isSubstantial))), this.#instance);
  }

  /** The process is about to end: a commit that the database doesn't take now isn't sent again. */
  giveUp(): void {
    this.#givenUp = true;
    this.#patience?.abort();
  }

  #create(entries: NewEntry[], outcome: InstanceOutcome): InstanceCommit {
    const { ref, run, lock } = this.#hold.lease;
    const instance = this.#instance;
    // Each commit has an array of its own, by which a codec remembers what it has encoded.
    const own = entries === NO_ENTRIES ? [] : entries;
    const commit = { ref, run, lock, instance, position: this.#position, entries: own, outcome };
    return instance.slotKey === null ? commit : { ...commit, limited: true }; // its slot may go to another instance
  }

  readonly #answered = (answer: InstanceCommitResult): void => {
    const commit = this.#writing as InstanceCommit;
    if (answer.result === "superseded") {
      this.#supersede();
      return;
    }
    this.#position += commit.entries.length;
    this.#settle();
    this.#tellWritten(commit, answer);
  };

  #tellWritten(commit: InstanceCommit, answer: WrittenCommit): void {
    const paused = this.#hold.correctPause(answer.paused, this.#pauseChanges);
    try {
      this.#owner.written(commit, paused === answer.paused ? answer : { ...answer, paused }, this.#askedAt);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #notTaken = (error: unknown): void => {
    void this.#recover(this.#writing as InstanceCommit, error);
  };

  async #recover(commit: InstanceCommit, error: unknown): Promise<void> {
    try {
      this.#answered(await this.#sendAgain(commit, error));
    } catch (failure) {
      if (failure instanceof ValueRefusedError) await this.#salvage(commit, failure);
      else this.#fail(failure);
    }
  }

  #supersede(): void {
    this.#broken = true;
    this.#settle();
    this.#owner.supersede();
  }

  #fail(error: unknown): void {
    this.#broken = true;
    this.#settle();
    this.#owner.fail(error);
  }

  /** Nothing is on its way any more. */
  #settle(): void {
    this.#writing = null;
    if (this.#idle === undefined) return;
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  /**
   * Work isn't repeated because the database is unavailable, or refuses for a while: the commit is sent until the database
   * takes it, or the instance isn't ours any more. The token and the position make that harmless, also after the lease.
   */
  async #sendAgain(commit: InstanceCommit, error: unknown): Promise<InstanceCommitResult> {
    const { clock } = this.#host;
    const startedAt = this.#askedAt;
    let failure = error;
    for (let delay = FIRST_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_PAUSE_MS)) {
      if (!isInfrastructure(failure) || this.#givenUp) throw failure;
      this.#owner.delayed(failure, clock.monotonic() - startedAt);
      this.#patience ??= new AbortController();
      await pause(clock, delay, this.#patience.signal);
      this.#askedAt = clock.monotonic();
      try {
        return await this.#host.commit({ ...commit, again: true }, this.#instance);
      } catch (again) {
        failure = again;
      }
    }
  }

  async #salvage(commit: InstanceCommit, error: ValueRefusedError): Promise<void> {
    try {
      const refused = await this.#writeEach(commit.entries);
      if (refused === "superseded") {
        this.#supersede();
        return;
      }
      if (refused === "step") this.#broken = true; // what the code did next, it did for another reason
      if (typeof refused === "object") this.#pending = NO_ENTRIES; // the run has failed
      this.#settle();
      this.#owner.refused(refused, error);
    } catch (failure) {
      this.#fail(failure);
    }
  }

  /**
   * Writes, one by one, those entries of a refused commit that can be stored. A step with a value that can't be stored has
   * failed for good, and entries that followed from its ending in the same commit are left out. If not even the failure can be
   * stored, gives that entry: nothing after it is written.
   */
  async #writeEach(entries: readonly NewEntry[]): Promise<RefusedPart | "superseded"> {
    const failed = new Set<string>();
    for (const entry of entries) {
      const follows = failed.size > 0 && (!isBodysEnd(entry) || failed.has(pathOf(entry)));
      if (follows || entry.kind === "rollingBack") continue; // the latter says the same as the outcome
      try {
        if (!(await this.#writeOne(entry))) return "superseded";
      } catch (error) {
        if (!(error instanceof ValueRefusedError)) throw error;
        failed.add(pathOf(entry));
        const failure = await this.#writeFailure(entry, error);
        if (failure !== "written") return failure;
      }
    }
    return failed.size > 0 ? "step" : "outcome";
  }

  async #writeFailure(entry: NewEntry, error: ValueRefusedError): Promise<"written" | "superseded" | NewEntry> {
    try {
      return (await this.#writeOne(withoutValue(entry, error, this.#owner.undoes))) ? "written" : "superseded";
    } catch (again) {
      if (again instanceof ValueRefusedError) return entry;
      throw again;
    }
  }

  /** Returns false if the instance isn't ours any more. */
  async #writeOne(entry: NewEntry): Promise<boolean> {
    const commit = this.#create([entry], RUNNING);
    this.#askedAt = this.#host.clock.monotonic();
    const sent = this.#host.commit(commit, this.#instance);
    const { result } = await sent.catch((error: unknown) => this.#sendAgain(commit, error));
    if (result === "written") this.#position++;
    return result === "written";
  }
}

export function isSubstantial({ kind }: NewEntry): boolean {
  return kind !== "progress";
}
