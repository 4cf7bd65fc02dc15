import { type Clock, pause } from "../../clock.ts";
import { isInfrastructure, ValueRefusedError } from "../../errors.ts";
import type {
  InstanceCommit,
  InstanceCommitResult,
  InstanceLease,
  InstanceName,
  InstanceOutcome,
  JournalEntry,
  NewEntry,
} from "../../store/instances/instance-records.ts";
import { type JournalLimits, JournalRoom } from "./journal-room.ts";
import type { PauseFlag } from "./pause-flag.ts";
import { type Refused, salvage } from "./salvage.ts";

export type WrittenCommit = Extract<InstanceCommitResult, { result: "written" }>;

/** Who is told what became of a commit. */
export interface CommitListener {
  /** `askedAt` is the monotonic time at which it was sent. */
  written(commit: InstanceCommit, answer: WrittenCommit, askedAt: number): void;
  superseded(): void;
  /** The store failed. */
  failed(error: unknown): void;
  /** The database doesn't take it at present, for so many milliseconds now; it is sent again. */
  delayed(error: unknown, milliseconds: number): void;
  /** Something of it can never be stored, and everything else is. */
  refused(part: Refused, error: ValueRefusedError): void;
}

interface Answered {
  readonly answer: InstanceCommitResult;
  /** When it was sent last, by the monotonic clock. */
  readonly askedAt: number;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;

/** What an execution writes: one commit at a time, each at the position where the last one ended. */
export class Commits {
  /** What the journal still takes. */
  readonly room: JournalRoom;
  readonly #instance: InstanceName;
  readonly #send: (commit: InstanceCommit) => Promise<InstanceCommitResult>;
  readonly #pause: PauseFlag;
  readonly #clock: Clock;
  readonly #listener: CommitListener;
  /** Where the next entry goes. */
  #position = 1;
  #pending: NewEntry[] = [];
  #writing: Promise<void> | undefined;
  /** Whether a commit wasn't written, as far as we know: what comes after it must not be, either. */
  #broken = false;
  readonly #givenUp = new AbortController();

  constructor(
    instance: InstanceName,
    send: (commit: InstanceCommit) => Promise<InstanceCommitResult>,
    { pause, clock, limits }: { readonly pause: PauseFlag; readonly clock: Clock; readonly limits: JournalLimits },
    listener: CommitListener,
  ) {
    this.room = new JournalRoom(limits);
    this.#instance = instance;
    this.#send = send;
    this.#pause = pause;
    this.#clock = clock;
    this.#listener = listener;
  }

  /** These are in the journal already. */
  goOnAfter(entries: readonly JournalEntry[]): void {
    this.#position = (entries.at(-1)?.position ?? 0) + 1;
    for (const entry of entries) this.room.add(entry);
  }

  /** Entries for the next commit. */
  get pending(): number {
    return this.#pending.length;
  }

  /** Whether the next commit says that something was done: progress alone doesn't. */
  get substantial(): boolean {
    return this.#pending.some(isSubstantial);
  }

  get writing(): boolean {
    return this.#writing !== undefined;
  }

  add(...entries: NewEntry[]): void {
    for (const entry of entries) this.room.add(entry);
    this.#pending.push(...entries);
  }

  write({ ref, run, lock }: InstanceLease, outcome: InstanceOutcome): void {
    const entries = this.#pending;
    this.#pending = [];
    const instance = this.#instance;
    this.#writing = this.#write({ ref, run, lock, instance, position: this.#position, entries, outcome });
  }

  /** The last one, after which nobody listens; `outcome` is told whether it says that something was done. */
  async writeLast(lease: InstanceLease, outcome: (substantial: boolean) => InstanceOutcome): Promise<void> {
    await this.#writing?.catch(() => {});
    const pending = this.#pending.splice(0);
    const entries = this.#broken ? [] : pending;
    const substantial = entries.some(isSubstantial);
    const instance = this.#instance;
    await this.#send({ ...lease, instance, position: this.#position, entries, outcome: outcome(substantial) });
  }

  /** The process is about to end: what the database doesn't take now isn't sent again. */
  giveUp(): void {
    this.#givenUp.abort();
  }

  async #write(commit: InstanceCommit): Promise<void> {
    const { changes } = this.#pause;
    try {
      const { answer, askedAt } = await this.#sendPatiently(commit);
      this.#writing = undefined;
      if (answer.result === "superseded") return this.#supersede();
      this.#position += commit.entries.length;
      this.#listener.written(commit, this.#pause.correct(answer, changes), askedAt);
    } catch (error) {
      if (error instanceof ValueRefusedError) await this.#salvage(commit, error);
      else this.#fail(error);
    }
  }

  #supersede(): void {
    this.#broken = true;
    this.#listener.superseded();
  }

  #fail(error: unknown): void {
    this.#writing = undefined;
    this.#broken = true;
    this.#listener.failed(error);
  }

  /**
   * What has been done isn't done again because the database is away, or refuses for a while: the commit is sent until it is taken,
   * or the instance isn't ours any more. The token and the position make that harmless, also when the lease is over.
   */
  async #sendPatiently(commit: InstanceCommit): Promise<Answered> {
    const { signal } = this.#givenUp;
    const startedAt = this.#clock.monotonic();
    for (let sent = commit, delay = FIRST_PAUSE_MS; ; delay = Math.min(delay * 2, LONGEST_PAUSE_MS)) {
      const askedAt = this.#clock.monotonic();
      try {
        return { answer: await this.#send(sent), askedAt };
      } catch (error) {
        if (!isInfrastructure(error) || signal.aborted) throw error;
        this.#listener.delayed(error, this.#clock.monotonic() - startedAt);
        await pause(this.#clock, delay, signal);
        sent = { ...commit, again: true };
      }
    }
  }

  async #salvage(commit: InstanceCommit, error: ValueRefusedError): Promise<void> {
    const { entries, position: _position, ...rest } = commit;
    const write = async (entry: NewEntry) => {
      const part = { ...rest, position: this.#position, entries: [entry], outcome: { kind: "running" } as const };
      const { answer } = await this.#sendPatiently(part);
      if (answer.result === "written") this.#position++;
      return answer.result === "written";
    };
    try {
      const refused = await salvage(entries, write);
      this.#writing = undefined;
      if (refused === "superseded") return this.#supersede();
      if (refused === "step") this.#broken = true; // what the code did next, it did for another reason
      this.#listener.refused(refused, error);
    } catch (failure) {
      this.#fail(failure);
    }
  }
}

export function isSubstantial({ kind }: NewEntry): boolean {
  return kind !== "progress";
}
