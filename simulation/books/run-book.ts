import type { HookContext } from "../../src/hooks/hook-context.ts";
import type { HookCount } from "../../src/store/hooks/hook-records.ts";
import { RELAY } from "../../src/store/hooks/relay.ts";
import type { World } from "../world.ts";
import type { HookAccount } from "./hook-account.ts";
import type { HookBook } from "./hook-book.ts";
import { HookLedger } from "./hook-ledger.ts";
import type { Payload, TriggerRecord } from "./trigger-record.ts";

export type RunEnding = "running" | "succeeded" | "threw" | "refused" | "aborted";

/** One call of a handler. */
export interface Run {
  readonly key: string;
  readonly n: number;
  readonly hookId: string;
  readonly process: string;
  readonly aborted: () => boolean;
  ending: RunEnding;
  /**
   * For an attempt with a transaction: whether its function has ended, and whether it learned that the transaction is
   * committed.
   */
  transaction: "none" | "begun" | "sealed" | "committed";
}

/** The ledger of side effects: every call of a handler, recorded outside the database. */
export class RunBook {
  readonly runs: Run[] = [];
  /** Idempotency keys whose completion was committed. */
  readonly completions: Set<string> = new Set();
  readonly ledger: HookLedger;
  readonly #world: World;
  readonly #book: HookBook;
  /** By process: when a handler of it began or ended. */
  readonly #lastActivity = new Map<string, number>();
  /** By idempotency key: the attempts that count. */
  readonly #attempts = new Map<string, number>();
  /** By idempotency key: the calls of handlers, without those that were released. */
  readonly #starts = new Map<string, number>();
  /** Idempotency keys and tokens of claims that have begun. */
  readonly #startedBy = new Set<string>();
  /** How often a retry of each was written. */
  readonly #retried = new Map<string, number>();
  /** By idempotency key: the tokens of claims that have begun, or whose beginning is written. */
  readonly #begunBy = new Map<string, Set<string>>();

  constructor(world: World, book: HookBook) {
    this.#world = world;
    this.#book = book;
    this.ledger = new HookLedger(world, this);
  }

  started(process: string, { n }: Payload, hook: HookContext): Run {
    const key = hook.idempotencyKey;
    const account = this.#book.accounts.get(hook.hookId);
    const trigger = this.#book.triggers.get(n) as TriggerRecord;
    const starts = (this.#starts.get(key) ?? 0) + 1;
    this.#starts.set(key, starts);
    this.#startedBy.add(`${key} ${account?.lock}`);
    this.#begins(key, String(account?.lock));
    if (!trigger.accepted) this.#violate("what is rolled back never happened", `#${n} runs`);
    if (this.completions.has(key)) this.#violate("nothing committed runs again", `${key} (#${n}) runs once more`);
    if (hook.attempts > trigger.maxAttempts || starts > trigger.maxAttempts) {
      const counted = `attempt ${hook.attempts}, call ${starts}`;
      this.#violate("attempts never exceed the limit", `${key} (#${n}): ${counted} of ${trigger.maxAttempts}`);
    }
    if (trigger.key === null && (trigger.processAt ?? 0) > this.#world.now) {
      this.#violate("nothing runs before its time", `${key} (#${n})`);
    }
    if (!account?.lock?.startsWith(`${process}#`) || account.availableAt <= this.#world.now) {
      const owner = account?.lock ?? "no owner";
      this.#violate("at most one owner", `${process} starts ${key} (#${n}), which belongs to ${owner}`);
    }
    const { signal } = hook;
    const run: Run = {
      key,
      n,
      hookId: hook.hookId,
      process,
      aborted: () => signal.aborted,
      ending: "running",
      transaction: "none",
    };
    this.runs.push(run);
    this.#lastActivity.set(process, this.#world.now);
    return run;
  }

  ended(run: Run, ending: RunEnding): void {
    run.ending = ending;
    this.#lastActivity.set(run.process, this.#world.now);
  }

  /**
   * Calls of other processes that were under way when this one began. One that has completed the hook isn't its owner any more.
   */
  besides({ hookId, process }: Run): Run[] {
    return this.runs.filter(
      (run) =>
        run.hookId === hookId &&
        run.process !== process &&
        run.ending === "running" &&
        run.transaction !== "committed" &&
        !this.ledger.has(run.key),
    );
  }

  /** Since when nothing runs in this process; infinitely late if something does. */
  idleSince(process: string): number {
    const busy = this.runs.some((run) => run.process === process && run.ending === "running");
    return busy ? Number.POSITIVE_INFINITY : (this.#lastActivity.get(process) ?? 0);
  }

  /** `counts` is false if the lost owner hadn't begun: this claim takes its place. */
  claimed(account: HookAccount, key: string, attempts: number, counts: boolean): void {
    const counted = (this.#attempts.get(key) ?? 0) + Number(counts);
    this.#attempts.set(key, counted);
    if (this.completions.has(key)) this.#violate("nothing committed runs again", `${key} was claimed once more`);
    if (attempts !== counted) {
      this.#violate(
        "every attempt counts",
        `${key} of "${account.name}" was claimed ${counted} times, but has ${attempts} attempts`,
      );
    }
  }

  /** Its owner has written the number of attempts, its own included. */
  counted(key: string, { lock, attempts, begins }: HookCount): void {
    this.#attempts.set(key, attempts);
    if (begins) this.#begins(key, lock); // its process may be lost before a check sees it
  }

  /** `counted` is whether the claim was. */
  released(key: string, lock: string, counted: boolean): void {
    this.#attempts.set(key, (this.#attempts.get(key) ?? 0) - Number(counted));
    this.#begunBy.get(key)?.delete(lock);
    if (this.#startedBy.delete(`${key} ${lock}`)) this.#starts.set(key, (this.#starts.get(key) ?? 0) - 1);
  }

  /** Its failure was written, and it will be retried. */
  retried(key: string): void {
    this.#retried.set(key, (this.#retried.get(key) ?? 0) + 1);
  }

  completed({ name, n }: HookAccount, key: string): void {
    this.completions.add(key);
    const hasSucceeded = ({ ending, transaction }: Run) => ending === "succeeded" || transaction === "sealed";
    if (name === RELAY || this.runs.some((run) => run.key === key && hasSucceeded(run))) return;
    this.#violate(
      "side effects happen at least once",
      `${key} (#${n}) was completed, but no call of its handler succeeded`,
    );
  }

  failed({ n }: HookAccount, key: string, { maxAttempts }: TriggerRecord): void {
    if (this.runs.some((run) => run.key === key && run.ending === "refused")) return;
    const attempts = this.#attempts.get(key) ?? 0;
    const begun = this.#begunBy.get(key)?.size ?? 0;
    // Of one lost owner it may not be known whether it had begun, and of one more after each outcome that was written. On the
    // last attempt it is.
    const doubts = 1 + (this.#retried.get(key) ?? 0);
    if (begun < Math.max(maxAttempts - doubts, 1)) {
      this.#violate(
        "attempts count when they begin",
        `${key} (#${n}) failed, and began ${begun} of ${maxAttempts} times`,
      );
    }
    if (attempts >= maxAttempts) return;
    this.#violate(
      "dead letters only for what earned it",
      `${key} (#${n}) failed after ${attempts} of ${maxAttempts} attempts`,
    );
  }

  #begins(key: string, lock: string): void {
    const begunBy = this.#begunBy.get(key) ?? new Set();
    this.#begunBy.set(key, begunBy.add(lock));
  }

  /** It has fresh attempts. */
  forget(id: string): void {
    for (const counts of [this.#attempts, this.#starts, this.#begunBy, this.#retried]) {
      for (const key of counts.keys()) if (key.startsWith(`${id}:`)) counts.delete(key);
    }
  }

  forgetCompletion(id: string): void {
    for (const key of this.completions) if (key.startsWith(`${id}:`)) this.completions.delete(key);
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}
