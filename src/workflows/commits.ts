import type { Clock } from "../clock.ts";
import type {
  InstanceCommit,
  InstanceCommitResult,
  InstanceLease,
  InstanceName,
  InstanceOutcome,
  JournalEntry,
  NewEntry,
} from "../store/instance-records.ts";
import { type JournalLimits, JournalRoom } from "./journal-room.ts";
import type { PauseFlag } from "./pause-flag.ts";

export type WrittenCommit = Extract<InstanceCommitResult, { result: "written" }>;

/** Who is told what became of a commit. */
export interface CommitListener {
  /** `askedAt` is the monotonic time at which it was sent. */
  written(commit: InstanceCommit, answer: WrittenCommit, askedAt: number): void;
  superseded(): void;
  /** The store failed. */
  failed(error: unknown): void;
}

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

  /** The last one, after which nobody listens; `outcome` is told whether something was done. */
  async writeLast(lease: InstanceLease, outcome: (substantial: boolean) => InstanceOutcome): Promise<void> {
    await this.#writing?.catch(() => {});
    const { substantial } = this;
    const pending = this.#pending.splice(0);
    const entries = this.#broken ? [] : pending;
    const instance = this.#instance;
    await this.#send({ ...lease, instance, position: this.#position, entries, outcome: outcome(substantial) });
  }

  async #write(commit: InstanceCommit): Promise<void> {
    const { changes } = this.#pause;
    const askedAt = this.#clock.monotonic();
    try {
      const answer = await this.#send(commit);
      this.#writing = undefined;
      if (answer.result === "superseded") {
        this.#broken = true;
        this.#listener.superseded();
        return;
      }
      this.#position += commit.entries.length;
      this.#listener.written(commit, this.#pause.correct(answer, changes), askedAt);
    } catch (error) {
      this.#writing = undefined;
      this.#broken = true;
      this.#listener.failed(error);
    }
  }
}

export function isSubstantial({ kind }: NewEntry): boolean {
  return kind !== "progress";
}
