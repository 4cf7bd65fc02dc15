import type {
  ClaimedInstance,
  InstanceInsert,
  InstanceInsertResult,
  InstanceLease,
  InstanceName,
  Reacquisition,
  RenewedInstance,
} from "../../src/store/instances/instance-records.ts";
import type { ClaimRequest } from "../../src/store/queue/claim-request.ts";
import { checkNews } from "../checks/check-news.ts";
import type { CreateRecord } from "../checks/instance-records.ts";
import type { World } from "../world.ts";
import { BodyBook } from "./body-book.ts";
import { CommitBook } from "./commit-book.ts";
import { EndingBook } from "./ending-book.ts";
import { EventBook } from "./event-book.ts";
import type { HookBook } from "./hook-book.ts";
import { creationOf, type InstanceAccount, isOwner, newAccount } from "./instance-account.ts";
import { LedgerBook } from "./ledger-book.ts";
import { LifecycleBook } from "./lifecycle-book.ts";
import { LineBook, standsInLine } from "./line-book.ts";
import { ProgressBook } from "./progress-book.ts";
import { RollbackBook } from "./rollback-book.ts";
import { ScheduleBook } from "./schedule-book.ts";
import { StreamBook } from "./stream-book.ts";
import { VersionBook } from "./version-book.ts";
import { WaitBook } from "./wait-book.ts";
import { WaiterBook } from "./waiter-book.ts";

/**
 * Keeps the accounts of all workflow instances, outside the database: from every committed call and its answer, in the order
 * of the commits. An answer that contradicts an earlier one violates an invariant.
 */
export class InstanceBook {
  readonly accounts: Map<string, InstanceAccount> = new Map();
  readonly creates: Map<number, CreateRecord> = new Map();
  readonly events: EventBook;
  readonly bodies: BodyBook;
  readonly lifecycle: LifecycleBook;
  readonly lines: LineBook;
  readonly rollbacks: RollbackBook;
  readonly schedules: ScheduleBook;
  readonly endings: EndingBook;
  readonly progress: ProgressBook;
  readonly streams: StreamBook;
  readonly ledger: LedgerBook;
  readonly waits: WaitBook;
  readonly waiters: WaiterBook;
  readonly commits: CommitBook;
  readonly versions: VersionBook;
  /** Calls of the application that aren't answered yet. */
  readonly asked: Set<{ readonly process: string; readonly label: string }> = new Set();
  /** Refs of what has changed since the rows were last compared. */
  readonly touched: Set<string> = new Set();
  /**
   * Inserts and events that were sent again after their instance had been deleted. The store can't distinguish them from new
   * ones.
   */
  sentAgainTooLate = 0;
  readonly #world: World;
  readonly #isAlive: (owner: string) => boolean;

  constructor(world: World, isAlive: (owner: string) => boolean, hooks: HookBook) {
    this.#world = world;
    this.#isAlive = isAlive;
    this.events = new EventBook(world, this);
    this.bodies = new BodyBook(world, this);
    this.lifecycle = new LifecycleBook(world, this);
    this.lines = new LineBook(world, this.accounts);
    this.rollbacks = new RollbackBook(world, this);
    this.schedules = new ScheduleBook(world, this);
    this.endings = new EndingBook(world, hooks);
    this.progress = new ProgressBook(world, this);
    this.streams = new StreamBook(world, this);
    this.ledger = new LedgerBook(world);
    this.waits = new WaitBook(world, this);
    this.waiters = new WaiterBook(world, this);
    this.commits = new CommitBook(world, this);
    this.versions = new VersionBook(world, this);
  }

  find({ name, id }: Pick<InstanceName, "name" | "id">): InstanceAccount | undefined {
    for (const account of this.accounts.values()) {
      if (account.state !== "gone" && account.name === name && account.id === id) return account;
    }
    return undefined;
  }

  isAsking(process: string): boolean {
    for (const asked of this.asked) if (asked.process === process) return true;
    return false;
  }

  inserted(instances: readonly InstanceInsert[], results: readonly InstanceInsertResult[]): void {
    for (const [index, instance] of instances.entries()) {
      this.#insertedOne(instance, results[index] as InstanceInsertResult);
    }
  }

  /** An admitted instance was waiting in its line, and no owner had lost it. */
  admitted(request: Pick<ClaimRequest, "lock" | "leaseMs">, instances: readonly ClaimedInstance[]): void {
    for (const { ref } of instances) {
      const account = this.accounts.get(ref);
      if (account !== undefined && !standsInLine(account)) this.#violate("lines are for those who stand in them", ref);
    }
    this.claimed(request, instances, true);
  }

  claimed(
    { lock, leaseMs }: Pick<ClaimRequest, "lock" | "leaseMs">,
    instances: readonly ClaimedInstance[],
    fromLines = false,
  ): void {
    const takenOver: number[] = [];
    for (const instance of instances) {
      const account = this.accounts.get(instance.ref);
      if (!fromLines && account !== undefined && standsInLine(account)) {
        this.#violate("no instance jumps the line", `${lock} claimed ${instance.ref}`);
      }
      const recoveries = account?.recoveries ?? 0;
      if (this.#claimedOne(instance, lock, leaseMs)) takenOver.push(recoveries);
    }
    if (takenOver.length > 1 && takenOver.some((recoveries) => recoveries > 0)) {
      this.#violate("what is lost again is taken over alone", `${lock} took over ${takenOver.length} at once`);
    }
  }

  renewed(leases: readonly InstanceLease[], held: readonly RenewedInstance[], leaseMs: number): void {
    for (const lease of leases) {
      const account = this.accounts.get(lease.ref);
      const owns = account !== undefined && isOwner(account, lease);
      const told = held.find(({ ref, lock }) => ref === lease.ref && lock === lease.lock);
      if ((told !== undefined) !== owns) {
        const answer = told === undefined ? "lost" : "holds";
        this.#violate("at most one owner", `${lease.lock} was told that it ${answer} ${lease.ref}, which is not so`);
      }
      if (!owns) continue;
      account.availableAt = this.#world.now + leaseMs;
      if (told !== undefined) checkNews(this.#world, account, told);
    }
  }

  confirmed(leases: readonly InstanceLease[], written: readonly boolean[]): void {
    for (const [index, lease] of leases.entries()) {
      const account = this.accounts.get(lease.ref);
      const owns = account !== undefined && isOwner(account, lease);
      if (owns !== written[index]) this.#violate("at most one owner", `${lease.lock} confirmed ${lease.ref}`);
      if (owns) account.confirmed = true;
    }
  }

  reacquired(parked: InstanceLease, lease: Reacquisition, renewed: RenewedInstance | "full" | null): void {
    const account = this.accounts.get(parked.ref);
    if (renewed === "full") {
      if (account !== undefined && lease.slots && this.lines.held(lease.slots.key) >= lease.slots.limit) return;
      this.#violate("slots that are free can be had", `${parked.ref} was told that all are taken`);
      return;
    }
    const same = account?.state === "live" && account.run === parked.run;
    const free = same && !account.held && !account.paused && account.lock === parked.lock;
    const again = same && account.held && account.lock === lease.lock;
    if ((free || again) !== (renewed !== null)) {
      const answer = renewed === null ? "couldn't take" : "took";
      this.#violate("at most one owner", `${lease.lock} ${answer} ${parked.ref} again, which ${account?.lock} had`);
    }
    if (renewed === null || account === undefined) return;
    checkNews(this.#world, account, renewed);
    account.held = true;
    account.lock = lease.lock;
    account.availableAt = this.#world.now + lease.leaseMs;
    this.lines.taken(account, false);
  }

  expired(locks: readonly string[]): void {
    for (const account of this.accounts.values()) {
      if (!account.held || account.lock === null || !locks.includes(account.lock)) continue;
      if (this.#isAlive(account.lock)) {
        this.#violate("at most one owner", `the lease of ${account.lock} was ended, but it lives`);
      }
      account.availableAt = this.#world.now;
    }
  }

  #insertedOne(instance: InstanceInsert, { result, ref, at }: InstanceInsertResult): void {
    const { namespace, name, id, parent } = instance;
    const holder = this.find(instance);
    if (result === "existing" || holder !== undefined) {
      const ours =
        holder !== undefined && (holder.ref === instance.ref || (parent !== null && holder.parent === parent));
      if (holder?.ref !== ref || ours !== (result === "created")) {
        this.#violate("one instance per id", `${namespace}/${name}/${id} is said to be ${result} as ${ref}`);
      }
      if (ours && holder.n !== null) (this.creates.get(holder.n) as CreateRecord).accepted = true;
      return;
    }
    if (this.accounts.has(instance.ref)) this.sentAgainTooLate++; // it was created, and deleted since
    const n = creationOf(instance.params);
    if (n !== null) (this.creates.get(n) as CreateRecord).accepted = true;
    this.accounts.set(ref, newAccount(instance, n, at));
    this.touched.add(ref);
  }

  /** Returns whether it was taken over. */
  #claimedOne(instance: ClaimedInstance, lock: string, leaseMs: number): boolean {
    const { now } = this.#world;
    const account = this.accounts.get(instance.ref);
    if (account?.state !== "live" || account.run !== instance.run) {
      const state = account === undefined ? "unknown" : `${account.state}, run ${account.run}`;
      this.#violate("nothing finished is claimed", `run ${instance.run} of ${instance.ref}, which is ${state}`);
      return false;
    }
    if (account.availableAt === null || account.availableAt > now) {
      const rule = account.held ? "at most one owner" : "nothing runs before its time";
      this.#violate(rule, `${lock} claimed ${account.ref} of ${account.lock}, due at ${account.availableAt}`);
    }
    if (account.paused && !account.held) this.#violate("paused instances are never claimed", account.ref);
    this.waits.claimed(account.ref);
    const takenOver = account.held;
    // After a recovery owners begin only when they have written so: one that hasn't is known not to have begun.
    if (takenOver && (account.confirmed || account.recoveries === 0)) {
      account.recoveries++;
      account.losses++;
    }
    if (instance.recoveries !== account.recoveries) {
      const counted = `${account.recoveries} owners of ${account.ref} were lost, but ${instance.recoveries} are counted`;
      this.#violate("every recovery counts", counted);
    }
    checkNews(this.#world, account, instance);
    account.held = true;
    account.lock = lock;
    account.confirmed = false;
    account.availableAt = now + leaseMs;
    const starts = !account.started;
    account.started = true;
    this.lines.taken(account, starts);
    account.toldOfPause = account.paused;
    this.touched.add(account.ref);
    return takenOver;
  }

  #violate(invariant: string, details: string): void {
    this.#world.violate(invariant, details);
  }
}
