import type {
  InstanceCommit,
  InstanceCommitResult,
  InstanceOutcome,
  NewEntry,
} from "../../src/store/instances/instance-records.ts";
import { checkErrored } from "../checks/check-errored.ts";
import { checkNews } from "../checks/check-news.ts";
import type { World } from "../world.ts";
import { endOf } from "./ending-book.ts";
import { type InstanceAccount, isEnding, isOwner, runOf, stepOf } from "./instance-account.ts";
import type { InstanceBook } from "./instance-book.ts";
import { isProgress } from "./progress-book.ts";
import { ROLLBACK_KINDS } from "./rollback-book.ts";

/** For so long an owner sets an instance aside that it can't run. */
const LONGEST_PAUSE_MS = 60_000;

type Written = Extract<InstanceCommitResult, { result: "written" }>;

/** What owners write to their instances: entries of journals, and outcomes. */
export class CommitBook {
  readonly #world: World;
  readonly #book: InstanceBook;

  constructor(world: World, book: InstanceBook) {
    this.#world = world;
    this.#book = book;
  }

  committed(commits: readonly InstanceCommit[], results: readonly InstanceCommitResult[], resent: boolean): void {
    for (const [index, commit] of commits.entries()) {
      const result = results[index] as InstanceCommitResult;
      const account = this.#book.accounts.get(commit.ref);
      if (result.result === "superseded") this.#superseded(account, commit);
      else {
        this.#book.waits.written(commit);
        this.#written(account, commit, result, resent);
      }
    }
  }

  #superseded(account: InstanceAccount | undefined, commit: InstanceCommit): void {
    if (account === undefined || !isOwner(account, commit)) return;
    if (commit.entries.length > 0 && runOf(account).journal.length + 1 !== commit.position) return;
    this.#violate("at most one owner", `${commit.lock} couldn't write to ${commit.ref}, although it owns it`);
  }

  #written(account: InstanceAccount | undefined, commit: InstanceCommit, answer: Written, resent: boolean): void {
    const { ref, lock, run, position, entries, outcome } = commit;
    if (account === undefined || !isOwner(account, commit)) {
      const done = account?.run === run && account.lock === lock && !account.held;
      if (resent && done && this.#hasWritten(account, commit)) return; // this commit parked or finished it
      const owner = account === undefined ? "ownerless" : `${account.lock}'s, ${account.state}, run ${account.run}`;
      this.#violate("at most one owner", `${lock} wrote to run ${run} of ${ref}, which is ${owner}`);
      return;
    }
    checkNews(this.#world, account, answer);
    this.#book.touched.add(ref);
    const { journal } = runOf(account);
    if (entries.length > 0 && position <= journal.length) {
      if (resent && this.#hasWritten(account, commit)) return;
      this.#violate("each position is written once", `${ref} at ${position}, by ${lock}`);
    } else if (position > journal.length + 1) {
      this.#violate("positions have no gaps", `${ref} has ${journal.length} entries, and was given ${position}`);
    }
    for (const entry of entries) this.#entered(account, entry, lock, answer.at);
    if (!entries.every(isProgress)) {
      account.recoveries = 0;
      account.losses = 0;
    }
    account.toldOfPause = account.paused;
    if (outcome.kind !== "running" && outcome.kind !== "rollingBack" && entries.length === 0) account.releases++;
    this.#apply(account, outcome, answer.at);
    const end = endOf(outcome);
    if (end !== null) {
      this.#book.endings.ended(account, end, commit.hook);
      this.#book.waiters.ended(account, answer.woken);
    } else if (commit.hook !== undefined) this.#violate("a hook for each run that ends", `${ref} hasn't ended`);
  }

  /** Whether this commit was written before. */
  #hasWritten(account: InstanceAccount, { lock, position, entries }: InstanceCommit): boolean {
    const { journal } = runOf(account);
    return entries.every((entry, index) => {
      const {
        lock: writer,
        at: _at,
        dropped: _dropped,
        ...written
      } = journal[position - 1 + index] ?? { lock: "", at: 0, dropped: undefined };
      return writer === lock && JSON.stringify(written) === JSON.stringify(entry);
    });
  }

  #entered(account: InstanceAccount, entry: NewEntry, lock: string, at: number): void {
    const run = runOf(account);
    const step = stepOf(entry);
    const label = `${account.ref}/${account.run}/${step}`;
    const earlier = run.journal.filter((one) => stepOf(one) === step);
    if (ROLLBACK_KINDS.includes(entry.kind)) {
      this.#book.rollbacks.entered(account, entry);
      run.journal.push({ ...entry, lock, at });
      return;
    }
    if (account.rollingBack !== null)
      this.#violate("nothing goes on while it is rolled back", `${label} ${entry.kind}`);
    if (earlier.some(isEnding)) this.#violate("a step ends once", `${label} has ended, and is ${entry.kind} now`);
    const deadline = earlier.findLast(({ kind }) => kind === "waiting")?.dueAt;
    if (entry.type === "sleep" && entry.kind === "completed" && (deadline ?? 0) > at) {
      this.#violate("nothing runs before its time", `${label} slept ${Number(deadline) - at} ms too little`);
    }
    this.#book.waits.entered(account, label, entry, at);
    if (isProgress(entry)) this.#book.progress.entered(label, entry, lock, earlier);
    if (entry.kind === "completed") this.#book.streams.completed(account, label, entry, lock);
    if (entry.type === "do") this.#book.bodies.entered(account, label, entry, earlier);
    if (entry.type === "waitForEvent") this.#book.events.entered(run, label, entry, deadline ?? null);
    if (entry.type === "result") this.#book.waiters.entered(run, label, entry);
    run.journal.push({ ...entry, lock, at });
  }

  #apply(account: InstanceAccount, outcome: InstanceOutcome, at: number): void {
    if (outcome.kind === "running") return;
    if (outcome.kind === "rollingBack") {
      checkErrored(this.#world, account, outcome.error);
      account.rollingBack = "errored";
      account.error = outcome.error;
      return;
    }
    account.held = false;
    account.toldOfPause = false;
    if (outcome.kind === "parked" || outcome.kind === "released") this.#book.waits.letGo(account);
    if (outcome.kind === "released") {
      account.lock = null;
      account.availableAt = account.paused ? null : (outcome.dueAt ?? at);
      return;
    }
    if (outcome.kind === "errored" || outcome.kind === "terminated") this.#book.rollbacks.ended(account, outcome);
    account.recoveries = 0;
    if (outcome.kind === "parked") {
      const due = account.wakes === outcome.wakes ? outcome.dueAt : at;
      account.availableAt = account.paused ? null : due;
      const waits = !account.paused && outcome.dueAt > at && !this.#book.versions.isHeldUp(account);
      if (waits) this.#book.events.parked(account, outcome.wakes);
      if (waits && outcome.dueAt - at > LONGEST_PAUSE_MS) this.#book.waiters.parked(account, outcome.wakes);
      return;
    }
    account.availableAt = null;
    account.finishedAt = at;
    account.state = outcome.kind === "completed" ? "complete" : outcome.kind;
    account.rollingBack = null;
    if (outcome.kind === "completed") {
      account.outputs.add(outcome.output);
      this.#book.bodies.completed(account, outcome.output);
    }
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}
