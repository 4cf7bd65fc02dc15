import type {
  ClaimedHook,
  HookCount,
  HookInsert,
  HookLease,
  HookSettlement,
  SettleResult,
} from "../../src/store/hooks/hook-records.ts";
import type { InsertResult } from "../../src/store/hooks/hook-statements.ts";
import { RELAY } from "../../src/store/hooks/relay.ts";
import type { ClaimRequest } from "../../src/store/queue/claim-request.ts";
import type { World } from "../world.ts";
import { type HookAccount, openAccount, presentResult, takeIn } from "./hook-account.ts";
import { RunBook } from "./run-book.ts";
import { numberOf, type TriggerRecord } from "./trigger-record.ts";

interface Claim {
  readonly key: string;
  readonly n: number;
}

/**
 * Keeps the accounts of all hooks outside the database, from every committed call and its answer, in the order of the commits.
 * An answer that contradicts an earlier one violates an invariant.
 */
export class HookBook {
  readonly accounts: Map<string, HookAccount> = new Map();
  readonly triggers: Map<number, TriggerRecord> = new Map();
  readonly runs: RunBook;
  /** By id: the numbers of triggers that the database made itself, when a run had ended. */
  readonly endings: Map<string, number> = new Map();
  /** Inserts that were sent again after their hook had run and was deleted. The store can't distinguish them from new ones. */
  sentAgainTooLate = 0;
  readonly #world: World;
  readonly #claims = new Map<string, Claim>();
  readonly #idsSeen = new Set<string>();
  readonly #isAlive: (owner: string) => boolean;

  constructor(world: World, isAlive: (owner: string) => boolean) {
    this.#world = world;
    this.#isAlive = isAlive;
    this.runs = new RunBook(world, this);
  }

  holderOf(name: string, key: string): HookAccount | undefined {
    for (const account of this.accounts.values()) {
      if (account.state === "live" && account.name === name && account.key === key) return account;
    }
    return undefined;
  }

  /** The idempotency key of what an owner has claimed. */
  keyOf({ id, lock }: HookLease): string {
    return this.#claims.get(`${id} ${lock}`)?.key ?? `${id} of ${lock}`;
  }

  /** The number of the trigger that a row carries. */
  numberOf(hook: Pick<HookInsert, "id" | "name" | "payload">): number {
    return this.endings.get(hook.id) ?? numberOf(hook);
  }

  inserted(hooks: readonly HookInsert[], results: readonly InsertResult[]): void {
    for (const [index, hook] of hooks.entries()) this.#insertedOne(hook, results[index] as InsertResult);
  }

  claimed({ lock, leaseMs }: ClaimRequest, hooks: readonly ClaimedHook[]): void {
    const { now } = this.#world;
    const takenOver: number[] = [];
    for (const hook of hooks) {
      const account = this.accounts.get(hook.id);
      if (account?.state !== "live") {
        this.#violate(
          "nothing committed runs again",
          `${hook.id} was claimed, but it is ${account?.state ?? "unknown"}`,
        );
        continue;
      }
      if (account.lock !== null && account.availableAt > now) {
        this.#violate("at most one owner", `${lock} claimed ${hook.id}, which ${account.lock} has a lease on`);
      }
      const n = this.numberOf(hook);
      if (n !== account.n) {
        this.#violate("keys never lose the last trigger", `${hook.id} was claimed with #${n} instead of #${account.n}`);
      }
      const { processAt } = this.triggers.get(n) as TriggerRecord;
      if (hook.dueAt > now || (hook.key === null && hook.name !== RELAY && (processAt ?? 0) > now)) {
        this.#violate("nothing runs before its time", `${hook.id} was claimed ${hook.dueAt - now} ms too early`);
      }
      const lost = account.lock !== null;
      if (lost) takenOver.push(account.recoveries);
      account.inDoubt ||= lost && !account.confirmed;
      account.lock = lock;
      account.availableAt = now + leaseMs;
      account.recoveries = hook.recoveries;
      account.confirmed = false;
      this.#claim(account, lock, hook, !account.inDoubt);
    }
    if (takenOver.length > 1 && takenOver.some((recoveries) => recoveries > 0)) {
      this.#violate("what is lost again is taken over alone", `${lock} took over ${takenOver.length} at once`);
    }
  }

  renewed(leases: readonly HookLease[], held: readonly HookLease[], leaseMs: number): void {
    for (const { id, lock } of leases) {
      const account = this.accounts.get(id);
      const owns = account?.state === "live" && account.lock === lock;
      const told = held.some((lease) => lease.id === id && lease.lock === lock);
      if (told !== owns) {
        this.#violate(
          "at most one owner",
          `${lock} was told that it ${told ? "holds" : "lost"} ${id}, which is not so`,
        );
      }
      if (owns) account.availableAt = this.#world.now + leaseMs;
    }
  }

  /** A lost owner that hadn't written that it begins counts, unless it had the last attempt, or there was a loss before. */
  counted(counts: readonly HookCount[], written: readonly boolean[]): void {
    for (const [index, count] of counts.entries()) {
      const { id, lock, attempts, recoveries, begins } = count;
      const account = this.accounts.get(id);
      const owns = account?.state === "live" && account.lock === lock;
      if (owns !== written[index]) this.#violate("at most one owner", `${lock} counted ${id} of ${account?.lock}`);
      if (!owns || !written[index]) continue;
      const { key, n } = this.#claims.get(`${id} ${lock}`) as Claim;
      const { maxAttempts } = this.triggers.get(n) as TriggerRecord;
      const lost = account.inDoubt && account.recoveries === 0 && account.attempts < maxAttempts ? 1 : 0;
      if (attempts !== account.attempts + lost) {
        this.#violate("every attempt counts", `${lock} makes ${account.attempts} attempts of ${id} ${attempts}`);
      }
      account.inDoubt = false;
      this.runs.counted(key, count);
      Object.assign(account, { attempts, recoveries, confirmed: begins });
    }
  }

  /** A transaction isn't sent again, so no caller learns what an earlier sending did. */
  settled(
    settlements: readonly HookSettlement[],
    results: readonly SettleResult[],
    { at, mayBeResent }: { at: number; mayBeResent: boolean },
  ): void {
    for (const [index, settlement] of settlements.entries()) {
      this.#settledOne(settlement, results[index] as SettleResult, at, mayBeResent);
    }
  }

  cancelled(cancelled: readonly string[], running: readonly string[]): void {
    for (const id of cancelled) {
      const account = this.accounts.get(id);
      if (account?.state !== "live" || account.lock !== null) {
        this.#violate("only what waits is cancelled", `${id} was ${account?.state ?? "unknown"}`);
      } else account.state = "gone";
    }
    for (const id of running) {
      const account = this.accounts.get(id) as HookAccount;
      account.nextN = null;
      account.nextAt = Number.POSITIVE_INFINITY;
      account.latestAt = null;
    }
  }

  redriven(ids: readonly string[]): void {
    for (const id of ids) {
      const account = this.accounts.get(id);
      if (account?.state !== "failed") {
        this.#violate("only dead letters are redriven", `${id} was ${account?.state ?? "unknown"}`);
        continue;
      }
      if (account.key !== null && this.holderOf(account.name, account.key) !== undefined) {
        this.#violate("keys collapse", `${id} was redriven beside a newer hook of its key`);
      }
      account.state = "live";
      account.availableAt = this.#world.now;
      account.latestAt = null;
      account.attempts = 0;
      this.runs.forget(id);
    }
  }

  discarded(ids: readonly string[]): void {
    for (const id of ids) {
      const account = this.accounts.get(id);
      if (account === undefined || account.state === "live" || account.state === "gone") {
        this.#violate("nothing accepted is lost", `${id} was discarded, but it is ${account?.state ?? "unknown"}`);
      } else account.state = "gone";
    }
  }

  expired(locks: readonly string[]): void {
    for (const account of this.accounts.values()) {
      if (account.state !== "live" || account.lock === null || !locks.includes(account.lock)) continue;
      if (this.#isAlive(account.lock)) {
        this.#violate("at most one owner", `the lease of ${account.lock} was ended, but it lives`);
      }
      account.availableAt = this.#world.now;
    }
  }

  #insertedOne(hook: HookInsert, { result, id, at }: InsertResult): void {
    const trigger = this.triggers.get(this.numberOf(hook)) as TriggerRecord;
    trigger.accepted = true;
    if (trigger.answer === "refused") {
      this.#violate("what is rolled back never happened", `#${trigger.n} was written all the same`);
    }
    if (result === "existing") {
      if (!this.#idsSeen.has(hook.id)) {
        this.#violate("nothing accepted is lost", `#${trigger.n} is said to exist, but it was never written`);
      }
      return;
    }
    this.#idsSeen.add(hook.id);
    if (result === "collapsed") this.#collapsed(hook, trigger, id, at);
    else this.#created(hook, trigger, at);
  }

  #created(hook: HookInsert, trigger: TriggerRecord, at: number): void {
    const { n } = trigger;
    const { id, name, key, lease } = hook;
    const known = this.accounts.get(id);
    if (known !== undefined && known.state !== "gone") {
      const again = lease !== null && known.lock === lease.lock;
      if (!again) this.#violate("one row per id", `${id} was inserted, but it is ${known.state}`);
      return;
    }
    if (known !== undefined) {
      const { via, answer } = trigger;
      if (via !== "trigger" || answer === "acknowledged") {
        this.#violate("nothing committed runs again", `${id} (#${n}) was inserted once more after its end`);
      }
      this.sentAgainTooLate++;
      this.runs.forgetCompletion(id);
      this.runs.forget(id);
    }
    if (key !== null && this.holderOf(name, key) !== undefined) {
      this.#violate("keys collapse", `#${n} has a row of its own, although the key "${key}" was held`);
    }
    const account = openAccount(hook, n, at);
    this.accounts.set(id, account);
    if (lease !== null) this.#claim(account, lease.lock, { triggers: 1, attempts: 1 }, true);
  }

  #collapsed(hook: HookInsert, { n }: TriggerRecord, holderId: string, at: number): void {
    const account = this.accounts.get(holderId);
    if (account?.state !== "live" || account.key !== hook.key || account.name !== hook.name) {
      this.#violate(
        "nothing accepted is lost",
        `#${n} collapsed into ${holderId}, which is ${account?.state ?? "unknown"}`,
      );
      return;
    }
    if (account.lastTrigger === hook.id) this.#violate("a trigger that is sent again counts once", `#${n}`);
    const triggeredAt = hook.triggeredAt ?? at;
    const newer = triggeredAt >= account.triggeredAt;
    const due = takeIn(account, hook, at, newer);
    if (account.lock !== null) {
      account.nextN = newer ? n : (account.nextN ?? account.n);
      account.nextAt = due;
    } else {
      if (newer) account.n = n;
      account.availableAt = due;
      account.attempts = 0;
    }
    account.triggeredAt = Math.max(account.triggeredAt, triggeredAt);
    account.lastTrigger = hook.id;
  }

  #claim(
    account: HookAccount,
    lock: string,
    { triggers, attempts }: Pick<ClaimedHook, "triggers" | "attempts">,
    counts: boolean,
  ): void {
    const key = `${account.id}:${triggers}`;
    account.attempts = attempts;
    this.#claims.set(`${account.id} ${lock}`, { key, n: account.n });
    this.runs.claimed(account, key, attempts, counts);
  }

  #settledOne({ id, lock, outcome }: HookSettlement, result: SettleResult, at: number, mayBeResent: boolean): void {
    const account = this.accounts.get(id);
    if (account === undefined) {
      if (result === "lost") return; // its insert failed, which its process couldn't know
      return this.#violate("nothing accepted is lost", `${lock} settled ${id}, which is unknown`);
    }
    const owns = account.state === "live" && account.lock === lock;
    if (result === "lost") {
      if (owns) this.#violate("at most one owner", `${lock} couldn't settle ${id}, although it owns it`);
      return;
    }
    if (!owns) {
      if (mayBeResent && result === presentResult(account)) return; // sent again, and answered with its present state
      const owner = account.lock ?? "no owner";
      return this.#violate("at most one owner", `${lock} made ${id} ${result}, which belongs to ${owner}`);
    }
    account.lock = null;
    const { key, n } = this.#claims.get(`${id} ${lock}`) as Claim;
    if (outcome.kind === "completed") this.runs.completed(account, key);
    if (outcome.kind === "released") {
      this.runs.released(key, lock, !account.inDoubt);
      if (!account.inDoubt) account.attempts--;
    }
    if (outcome.kind !== "released" || account.nextN !== null) account.inDoubt = false;
    if (account.nextN !== null) {
      if (result !== "pending") {
        this.#violate(
          "keys never lose the last trigger",
          `#${account.nextN} was stored beside ${id}, which is ${result}`,
        );
      }
      account.n = account.nextN;
      account.nextN = null;
      account.availableAt = Math.max(account.nextAt, at);
      account.nextAt = Number.POSITIVE_INFINITY;
      account.attempts = 0;
      return;
    }
    const waits = outcome.kind === "retry" || outcome.kind === "released";
    if (waits !== (result === "pending") || (outcome.kind === "failed") !== (result === "failed")) {
      this.#violate("settling does what it says", `${outcome.kind} made ${id} ${result}`);
    }
    if (outcome.kind === "retry") this.runs.retried(key);
    if (outcome.kind === "failed") this.runs.failed(account, key, this.triggers.get(n) as TriggerRecord);
    if (waits) account.availableAt = at + (outcome.delayMs ?? 0);
    if (outcome.kind === "completed") account.purgeAt = at + outcome.keepMs;
    if (result === "failed" || result === "completed") account.state = result;
    else if (result === "deleted") account.state = "gone";
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}
