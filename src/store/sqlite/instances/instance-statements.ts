import type { Sending } from "../../group-commit.ts";
import type {
  ClaimedInstance,
  EventInsert,
  EventInsertResult,
  EventsRequest,
  InstanceCommit,
  InstanceCommitResult,
  InstanceHistory,
  InstanceInsert,
  InstanceInsertResult,
  InstanceLease,
  InstanceRun,
  InstanceTraits,
  JournalEntry,
  LoadedEvents,
  LoadRequest,
  NamedLease,
  Reacquisition,
  RenewedInstance,
  StoredEvent,
  WaitRequest,
  WaitResult,
} from "../../instances/instance-records.ts";
import {
  toClaimedInstance,
  toJournalEntry,
  toNamedLease,
  toRenewedInstance,
  toStoredEvent,
} from "../../instances/instance-rows.ts";
import type { InstanceStatements } from "../../instances/instance-statements.ts";
import { PAGE_BYTES, PageRoom } from "../../instances/load-page.ts";
import { isDelivered } from "../../instances/repeated-change.ts";
import type { AdmitRequest } from "../../lines/line-records.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../../queue/claim-request.ts";
import { instanceLanes } from "../../queue/lanes.ts";
import { freshRank, isLimited } from "../../queue/rank.ts";
import { WorkClass } from "../../queue/work-class.ts";
import type { SqliteAccess, SqliteValue } from "../drivers/driver.ts";
import { findDue, findNextWake } from "../queue-reads.ts";
import { doOnce } from "../receipts.ts";
import { READ_EVENTS } from "../sql/events.ts";
import {
  CLAIM_INSTANCES,
  CONFIRM_INSTANCE,
  COUNT_RECOVERY,
  FIND_DUE_INSTANCES,
  FIND_LOST_INSTANCES,
  REACQUIRE_INSTANCE,
  RENEW_INSTANCE,
} from "../sql/instances-claim.ts";
import { FIND_RUN } from "../sql/instances-commit.ts";
import {
  FIND_CREATED_INSTANCE,
  INSERT_INSTANCE,
  INSERT_LABEL,
  INSERT_SPECIAL_INSTANCE,
} from "../sql/instances-create.ts";
import { UNKNOWN_NAMES } from "../sql/instances-read.ts";
import { READ_JOURNAL } from "../sql/journal.ts";
import { COUNT_HELD, FIND_ANY_LINE, NEXT_LINE, OPEN_LINES } from "../sql/lines.ts";
import { expireLeases, findLeased, leaseTokens, nextWake } from "../sql/queue.ts";
import { commitInstance, commitInstances } from "./commit-instance.ts";
import { keyOf, SqliteInstanceOperations } from "./instance-operations.ts";
import { joinLine, SqliteAdmission } from "./lines.ts";
import { sendEvent } from "./send-event.ts";

import { awaitEnd } from "./waiters.ts";

type Row = Record<string, unknown>;

const DUE = { due: FIND_DUE_INSTANCES, lostOnce: FIND_LOST_INSTANCES };
const NEXT_WAKE = {
  plain: nextWake("perdure_instance", { unclaimed: false }),
  unclaimed: nextWake("perdure_instance", { unclaimed: true }),
};
const LEASE_TOKENS = leaseTokens("perdure_instance");
const FIND_LEASED = findLeased("perdure_instance");
const EXPIRE_LEASES = expireLeases("perdure_instance");

/** A batch is a loop of prepared statements in one transaction: without a network between, that is the fastest there is. */
export class SqliteInstanceStatements extends SqliteInstanceOperations implements InstanceStatements {
  readonly #admission: SqliteAdmission;

  constructor(access: SqliteAccess) {
    super(access);
    this.#admission = new SqliteAdmission(access);
  }

  async insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    if (instances.length === 0) return [];
    return this.access.write(() => this.insertNow(instances));
  }

  /** Inside a transaction that is already open. */
  insertNow(instances: readonly InstanceInsert[]): InstanceInsertResult[] {
    const now = this.access.now();
    return instances.map((instance) => this.#insertOne(instance, now));
  }

  async claim(request: ClaimRequest): Promise<ClaimedInstance[]> {
    const lanes = instanceLanes(request.scopes, request.takeOver);
    if (lanes.length === 0 || request.limit <= 0) return [];
    const { mostLost } = request;
    const find = (limit: number, now: number) => findDue(this.driver, DUE, { lanes, limit, mostLost, now });
    // Looking first keeps idle claimers from taking the write lock.
    const due = await this.access.read(() => find(1, this.access.now()));
    if (due.length === 0) return [];
    return this.access.write(() => {
      const now = this.access.now();
      return this.#claimFound(find(request.limit, now), request, now);
    });
  }

  admit(request: AdmitRequest): Promise<ClaimedInstance[]> {
    return this.#admission.admit(request);
  }

  async nextAdmission(scopes: readonly QueueScope[]): Promise<number | null> {
    return this.access.read(() => {
      const times = scopes.flatMap(({ namespace, names }) =>
        this.driver.all(NEXT_LINE, [namespace, JSON.stringify(names)]).map((row) => Number(row.available_at)),
      );
      return times.length === 0 ? null : Math.min(...times) - this.access.now();
    });
  }

  async openLines(namespaces: readonly string[]): Promise<boolean> {
    const scope = JSON.stringify(namespaces);
    const [line] = await this.access.read(() => this.driver.all(FIND_ANY_LINE, [scope]));
    if (line === undefined) return false;
    await this.access.write(() => this.driver.run(OPEN_LINES, [this.access.now(), scope]));
    return true;
  }

  async load(runs: readonly LoadRequest[]): Promise<InstanceHistory[]> {
    if (runs.length === 0) return [];
    return this.access.readSnapshot(() => {
      const page = new PageRoom(PAGE_BYTES);
      return runs.flatMap((run) => this.#loadOne(run, page) ?? []);
    });
  }

  async loadEvents(requests: readonly EventsRequest[]): Promise<LoadedEvents[]> {
    if (requests.length === 0) return [];
    return this.access.readSnapshot(() => {
      const share = Math.ceil(PAGE_BYTES / requests.length);
      return requests.flatMap((request) => this.#loadEventsOf(request, new PageRoom(share)) ?? []);
    });
  }

  /** As a part of a transaction. */
  commitNow(commit: InstanceCommit): InstanceCommitResult {
    return commitInstance(this.driver, commit, { resent: false, now: this.access.now() });
  }

  async commit(commits: readonly InstanceCommit[], sending?: Sending): Promise<InstanceCommitResult[]> {
    if (commits.length === 0) return [];
    return this.access.write(() => {
      const circumstances = { resent: sending?.resent ?? true, now: this.access.now() };
      return commitInstances(this.driver, commits, circumstances);
    });
  }

  async reacquire(
    parked: InstanceLease,
    { lock, leaseMs, slots = null }: Reacquisition,
  ): Promise<RenewedInstance | "full" | null> {
    return this.access.write(() => {
      const at = this.access.now();
      if (slots !== null) {
        const [others] = this.driver.all(COUNT_HELD, [slots.key, parked.ref]);
        if (Number(others?.held) >= slots.limit) return "full";
      }
      const parameters = [lock, at + leaseMs, parked.ref, parked.run, parked.lock];
      const [row] = this.driver.all(REACQUIRE_INSTANCE, parameters);
      return row ? toRenewedInstance({ ...row, at }) : null;
    });
  }

  async renew(leases: readonly InstanceLease[], leaseMs: number): Promise<RenewedInstance[]> {
    if (leases.length === 0) return [];
    return this.access.write(() => {
      const at = this.access.now();
      const rows = leases.flatMap(({ ref, run, lock }) =>
        this.driver.all(RENEW_INSTANCE, [at + leaseMs, ref, run, lock]),
      );
      return rows.map((row) => toRenewedInstance({ ...row, at }));
    });
  }

  nextWake(scopes: readonly QueueScope[], { takeOver, ...question }: WakeQuestion): Promise<number | null> {
    return findNextWake(this.access, NEXT_WAKE, instanceLanes(scopes, takeOver), question);
  }

  async leaseTokens(namespaces: readonly string[]): Promise<string[]> {
    const rows = await this.access.read(() => this.driver.all(LEASE_TOKENS, [JSON.stringify(namespaces)]));
    return rows.map((row) => row.lock as string);
  }

  async confirm(leases: readonly InstanceLease[]): Promise<boolean[]> {
    if (leases.length === 0) return [];
    return this.access.write(() =>
      leases.map(({ ref, run, lock }) => this.driver.run(CONFIRM_INSTANCE, [ref, run, lock]) === 1),
    );
  }

  async findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<NamedLease[]> {
    const parameters = [JSON.stringify(namespaces), JSON.stringify(locks)];
    return (await this.access.read(() => this.driver.all(FIND_LEASED, parameters))).map(toNamedLease);
  }

  async expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number> {
    if (locks.length === 0) return 0;
    const parameters = [this.access.now(), JSON.stringify(namespaces), JSON.stringify(locks)];
    return this.access.write(() => this.driver.run(EXPIRE_LEASES, parameters));
  }

  async unknownNames({ namespace, names }: QueueScope): Promise<string[]> {
    const rows = await this.access.read(() => this.driver.all(UNKNOWN_NAMES, [namespace, JSON.stringify(names)]));
    return rows.map((row) => row.name as string);
  }

  async awaitEnds(requests: readonly WaitRequest[]): Promise<WaitResult[]> {
    if (requests.length === 0) return [];
    return this.access.write(() => requests.map((request) => awaitEnd(this.driver, request)));
  }

  async sendEvents(events: readonly EventInsert[]): Promise<EventInsertResult[]> {
    if (events.length === 0) return [];
    return this.access.write(() => this.sendNow(events));
  }

  /** Inside of a transaction that is open already. */
  sendNow(events: readonly EventInsert[]): EventInsertResult[] {
    const now = this.access.now();
    return events.map((event) => {
      const isDone = (result: EventInsertResult) => isDelivered(result, event);
      return doOnce(this.access, event, () => sendEvent(this.driver, event, now), isDone) ?? { result: "repeated" };
    });
  }

  #insertOne(instance: InstanceInsert, now: number): InstanceInsertResult {
    const { ref } = instance;
    const insert = () => this.#insertWithoutReceipt(instance, now);
    const isCreated = ({ result }: InstanceInsertResult) => result === "created";
    return doOnce(this.access, instance, insert, isCreated) ?? { result: "repeated", ref, at: now };
  }

  #insertWithoutReceipt(instance: InstanceInsert, now: number): InstanceInsertResult {
    const { namespace, name, id, ref, version, params, parent, traits, lease } = instance;
    const limited = isLimited(traits);
    const rank = lease
      ? { class: WorkClass.leased, availableAt: now + lease.leaseMs }
      : freshRank({ priority: traits?.priority ?? 0, limited }, now);
    const values = [
      ref,
      ...keyOf(instance),
      version,
      params,
      parent,
      now,
      rank.class,
      rank.availableAt,
      lease?.lock ?? null,
      lease ? now : null,
    ];
    const inserted =
      traits === null
        ? this.driver.run(INSERT_INSTANCE, values)
        : this.driver.run(INSERT_SPECIAL_INSTANCE, [...values, ...traitValues(traits, now)]);
    if (inserted === 1) {
      if (limited) joinLine(this.driver, { ...instance, ...(traits as InstanceTraits), class: rank.class }, now);
      if (traits?.labels) this.#insertLabels(instance, traits.labels);
      if (instance.event !== undefined) sendEvent(this.driver, { namespace, name, id, ...instance.event }, now);
      return { result: "created", ref, at: now };
    }
    // Sent before, with the reply lost, if it has our ref; created by an earlier attempt, if it has our parent.
    const row = this.driver.all(FIND_CREATED_INSTANCE, keyOf(instance))[0] as Row;
    const ours = row.ref === ref || (parent !== null && row.parent === parent);
    return { result: ours ? "created" : "existing", ref: row.ref as string, at: Number(row.created_at) };
  }

  #insertLabels({ namespace, name, ref }: InstanceInsert, labels: string): void {
    for (const [key, value] of Object.entries(JSON.parse(labels) as Record<string, string>)) {
      this.driver.run(INSERT_LABEL, [namespace, name, key, value, ref]);
    }
  }

  #claimFound(rows: readonly Row[], { lock, leaseMs }: ClaimRequest, now: number): ClaimedInstance[] {
    if (rows.length === 0) return [];
    for (const row of rows) {
      // Only a row that is taken over can still have an owner here: all other due rows have none.
      if (Number(row.class) !== WorkClass.leased || row.lock === null) continue;
      if (!row.confirmed && Number(row.recoveries) > 0) continue; // its owner is known not to have begun
      row.recoveries = this.driver.all(COUNT_RECOVERY, [row.ref as string])[0]?.recoveries;
    }
    this.driver.run(CLAIM_INSTANCES, [lock, now + leaseMs, now, JSON.stringify(rows.map(({ ref }) => ref))]);
    return rows.map((row) => toClaimedInstance({ ...row, lock, claimed_at: now }));
  }

  #loadOne({ ref, run, after = { position: 0, sequence: 0 } }: LoadRequest, page: PageRoom): InstanceHistory | null {
    const [found] = this.driver.all(FIND_RUN, [ref, run]);
    if (found === undefined) return null;
    const wakes = Number(found.wakes);
    const readEntries = (last: JournalEntry | undefined, limit: number) =>
      this.driver.all(READ_JOURNAL, [ref, run, last?.position ?? after.position, limit]).map(toJournalEntry);
    const entries = page.fill(readEntries, ({ value }) => value);
    const events = wakes > after.sequence ? this.#readEvents({ ref, run }, after.sequence, page) : [];
    return { ref, run, wakes, entries, events, ...(page.full && { more: true as const }) };
  }

  #loadEventsOf({ ref, run, after }: Omit<EventsRequest, "instance">, page: PageRoom): LoadedEvents | null {
    const [found] = this.driver.all(FIND_RUN, [ref, run]);
    if (found === undefined) return null;
    const wakes = Number(found.wakes);
    const events = wakes > after ? this.#readEvents({ ref, run }, after, page) : []; // nothing came in if nothing was counted
    return { ref, run, wakes, events, ...(page.full && { more: true as const }) };
  }

  #readEvents({ ref, run }: InstanceRun, after: number, page: PageRoom): StoredEvent[] {
    const read = (last: StoredEvent | undefined, limit: number) =>
      this.driver.all(READ_EVENTS, [ref, run, last?.sequence ?? after, limit]).map(toStoredEvent);
    return page.fill(read, ({ payload }) => payload);
  }
}

function traitValues(traits: InstanceTraits, now: number): SqliteValue[] {
  const { labels, priority, successRetention, errorRetention, schedule, trace, slotKey, rateKey, timeout } = traits;
  const deadline = timeout === null ? null : now + timeout;
  return [labels, priority, successRetention, errorRetention, schedule, trace, slotKey, rateKey, timeout, deadline];
}
