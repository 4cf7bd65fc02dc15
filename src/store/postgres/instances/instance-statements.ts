import type { Clock } from "../../../clock.ts";
import type { Sending } from "../../group-commit.ts";
import {
  type ClaimedInstance,
  type EventInsert,
  type EventInsertResult,
  type EventsRequest,
  type InstanceCommit,
  type InstanceCommitResult,
  type InstanceHistory,
  type InstanceInsert,
  type InstanceInsertResult,
  type InstanceLease,
  type InstancePreparation,
  type LoadedEvents,
  type LoadRequest,
  type NamedLease,
  type Reacquisition,
  type RenewedInstance,
  toEndNotice,
  type WaitRequest,
  type WaitResult,
} from "../../instances/instance-records.ts";
import { toClaimedInstance, toNamedLease, toRenewedInstance } from "../../instances/instance-rows.ts";
import type { InstanceStatements } from "../../instances/instance-statements.ts";
import { PAGE_BYTES } from "../../instances/load-page.ts";
import { isDelivered } from "../../instances/repeated-change.ts";
import type { AdmitRequest } from "../../lines/line-records.ts";
import type { ClaimRequest, QueueScope, WakeQuestion } from "../../queue/claim-request.ts";
import { instanceLanes } from "../../queue/lanes.ts";
import { isLimited } from "../../queue/rank.ts";
import { toNumber } from "../../rows.ts";
import { integerArray } from "../array-literals.ts";
import { ClaimProgress, claimLanes } from "../claim-lanes.ts";
import type { Companion } from "../connection/accompanied-query.ts";
import type { Connection } from "../connection/connection.ts";
import { askDedicated, type Carrier, type DedicatedConnection } from "../connection/dedicated-connection.ts";
import type { PostgresClient, PostgresQueryable } from "../connection/driver.ts";
import { isUniqueViolation } from "../errors.ts";
import { askNextWake } from "../next-wake.ts";
import {
  findCreatedInstances,
  insertInstances,
  insertNewInstances,
  prepareInstance,
} from "../sql/instances/instance-inserts.ts";
import {
  claimInstances,
  confirmInstances,
  reacquireInstance,
  renewInstances,
} from "../sql/instances/instance-leases.ts";
import { loadInstances } from "../sql/instances/load-instances.ts";
import { sendEvents } from "../sql/instances/send-events.ts";
import { expireLeases, findLeased, leaseTokens } from "../sql/queue.ts";
import type { SchemaPrefix } from "../sql/statement.ts";
import { joinLinesOf } from "../sql/tell-lines.ts";
import { PostgresAdmission } from "./admission.ts";
import { isEnd } from "./commit-results.ts";
import { PostgresCommits } from "./commits.ts";
import {
  eventColumns,
  firstEventColumns,
  insertColumns,
  instanceColumns,
  instanceLeaseColumns,
  nameColumns,
  runColumns,
} from "./instance-columns.ts";
import { PostgresInstanceOperations } from "./instance-operations.ts";
import { toHistories } from "./loaded-rows.ts";
import { byName, byRef, inOrder } from "./locking-order.ts";
import { hasToken, PostgresTokenWaits } from "./token-waits.ts";

type Row = Record<string, unknown>;

/** After which no journal has entries. */
const LAST_POSITION = 2_147_483_647;

const SUPERSEDED: InstanceCommitResult = { result: "superseded" };

/** How instances are created, claimed, loaded, renewed and committed, and how events reach them. */
export class PostgresInstanceStatements extends PostgresInstanceOperations implements InstanceStatements {
  readonly #progress: ClaimProgress;
  readonly #dedicated: DedicatedConnection & Carrier;
  readonly #admission: PostgresAdmission;
  readonly #commits: PostgresCommits;
  readonly #tokens: PostgresTokenWaits;

  constructor(connection: Connection, clock: Clock, schema: SchemaPrefix, dedicated: DedicatedConnection & Carrier) {
    super(connection, clock, schema);
    this.#progress = new ClaimProgress(clock);
    this.#dedicated = dedicated;
    this.#admission = new PostgresAdmission(connection, clock, schema);
    this.#commits = new PostgresCommits(connection, clock, schema, dedicated);
    this.#tokens = new PostgresTokenWaits(connection, clock, schema);
  }

  async insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    if (instances.length === 0) return [];
    return this.receipts.each<InstanceInsert, InstanceInsertResult>(instances, {
      perform: (items, on) => (on === undefined ? this.#insert(items) : this.#insertAny(items, { on })),
      isDone: ({ result }) => result === "created",
      repeat: ({ ref }) => ({ result: "repeated", ref, at: this.clock.now() }), // whether or not it is still there
    });
  }

  /** In a transaction that can't be begun again: ids that exist are left alone. */
  insertWithin(transaction: PostgresQueryable, instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    return instances.length === 0 ? Promise.resolve([]) : this.#insertAny(instances, { on: transaction });
  }

  /** For instances that were created in a transaction of the application's. */
  async joinLines(transaction: PostgresQueryable, refs: readonly string[]): Promise<void> {
    if (refs.length > 0) await this.run(joinLinesOf, [refs], transaction);
  }

  async claim(request: ClaimRequest): Promise<ClaimedInstance[]> {
    const send = (values: unknown[]) => this.run(claimInstances, [this.now(), ...values]);
    return (await claimLanes("instance", request, this.#progress, send)).map(toClaimedInstance);
  }

  admit(request: AdmitRequest): Promise<ClaimedInstance[]> {
    return this.#admission.admit(request);
  }

  nextAdmission(scopes: readonly QueueScope[]): Promise<number | null> {
    return this.#admission.nextAdmission(scopes);
  }

  openLines(namespaces: readonly string[]): Promise<boolean> {
    return this.#admission.openLines(namespaces);
  }

  async load(runs: readonly LoadRequest[]): Promise<InstanceHistory[]> {
    if (runs.length === 0) return [];
    const after = (field: "position" | "sequence") => integerArray(runs.map((run) => run.after?.[field] ?? 0));
    const share = Math.ceil(PAGE_BYTES / runs.length);
    const values = [...runColumns(runs), after("position"), after("sequence"), share];
    return toHistories(runs, (await this.run(loadInstances, values)).rows, share);
  }

  async loadEvents(requests: readonly EventsRequest[]): Promise<LoadedEvents[]> {
    if (requests.length === 0) return [];
    const runs = requests.map(({ after, ...run }) => ({ ...run, after: { position: LAST_POSITION, sequence: after } }));
    return (await this.load(runs)).map(({ entries: _, ...loaded }) => loaded);
  }

  async commit(
    commits: readonly InstanceCommit[],
    { resent = true }: Partial<Sending> = {},
  ): Promise<InstanceCommitResult[]> {
    if (commits.length === 0) return [];
    const sorted = inOrder(commits, byRef);
    const results = await (resent ? this.#commits.again(sorted) : this.#commits.first(sorted));
    const left = sorted.filter((commit) => !results.has(commit) && isEnd(commit));
    if (left.length > 0) await this.#commitAwaited(left, results);
    return commits.map((commit) => results.get(commit) ?? SUPERSEDED);
  }

  /** As a part of a transaction, which a taken position fails. */
  async commitWithin(
    transaction: PostgresQueryable,
    commit: InstanceCommit,
    readsSnapshot: boolean,
  ): Promise<InstanceCommitResult> {
    return (await this.#commits.within(transaction, commit, readsSnapshot)).get(commit) ?? SUPERSEDED;
  }

  awaitEnds(requests: readonly WaitRequest[]): Promise<WaitResult[]> {
    return requests.length === 0 ? Promise.resolve([]) : this.awaited.register(requests);
  }

  /** Ends that weren't written: those of instances that others wait for, if they are still their senders'. */
  async #commitAwaited(
    left: readonly InstanceCommit[],
    results: Map<InstanceCommit, InstanceCommitResult>,
  ): Promise<void> {
    const awaited = await this.awaited.find(left.map(({ ref }) => ref));
    const commits = left.filter(({ ref }) => awaited.has(ref));
    if (commits.length === 0) return;
    const endIn = async (client: PostgresClient) => {
      const written = await this.#commits.again(commits, client);
      const ends = [...written.keys()].flatMap((one) => toEndNotice(one.instance, one, one.outcome) ?? []);
      return { ends, result: written };
    };
    const { result, woken } = await this.awaited.end([...awaited], endIn);
    for (const [commit, written] of result) results.set(commit, { ...written, woken } as InstanceCommitResult);
  }

  async reacquire(parked: InstanceLease, lease: Reacquisition): Promise<RenewedInstance | "full" | null> {
    if (lease.slots) return this.#admission.reacquire(parked, lease, lease.slots);
    const { ref, run, lock } = parked;
    const { rows } = await this.run(reacquireInstance, [this.now(), ref, run, lock, lease.lock, lease.leaseMs]);
    return rows[0] === undefined ? null : toRenewedInstance(rows[0]);
  }

  async prepare({ ref, run, lock }: ClaimedInstance, preparation: InstancePreparation): Promise<void> {
    const { params, slotKey, rateKey, successRetention, errorRetention, version, timeout } = preparation;
    const values = [ref, run, lock, params, slotKey, rateKey, successRetention, errorRetention, version, timeout];
    await this.run(prepareInstance, [this.now(), ...values]);
  }

  async renew(leases: readonly InstanceLease[], leaseMs: number): Promise<RenewedInstance[]> {
    if (leases.length === 0) return [];
    const values = [this.now(), leaseMs, ...instanceLeaseColumns(inOrder(leases, byRef))];
    const { rows } = await askDedicated(this.#dedicated, (on) => this.run(renewInstances, values, on));
    return rows.map(toRenewedInstance);
  }

  nextWake(scopes: readonly QueueScope[], { takeOver, ...question }: WakeQuestion): Promise<number | null> {
    const lanes = instanceLanes(scopes, takeOver);
    return askNextWake("instance", lanes, question, this.#progress.horizon, (query, values) =>
      this.run(query, [this.now(), ...values]),
    );
  }

  async leaseTokens(namespaces: readonly string[]): Promise<string[]> {
    const { rows } = await this.run(leaseTokens("instance"), [namespaces]);
    return rows.map((row) => row.lock as string);
  }

  async confirm(leases: readonly InstanceLease[]): Promise<boolean[]> {
    if (leases.length === 0) return [];
    const { rows } = await this.run(confirmInstances, instanceLeaseColumns([...leases].sort(byRef)));
    const confirmed = new Set(rows.map((row) => `${row.ref} ${row.lock}`));
    return leases.map(({ ref, lock }) => confirmed.has(`${ref} ${lock}`));
  }

  async findLeased(namespaces: readonly string[], locks: readonly string[]): Promise<NamedLease[]> {
    if (locks.length === 0) return [];
    const { rows } = await this.run(findLeased("instance"), [namespaces, locks]);
    return rows.map(toNamedLease);
  }

  async expireLeases(namespaces: readonly string[], locks: readonly string[]): Promise<number> {
    if (locks.length === 0) return 0;
    const { rowCount } = await this.run(expireLeases("instance"), [this.now(), namespaces, locks]);
    return rowCount ?? 0;
  }

  async sendEvents(events: readonly EventInsert[], on?: PostgresQueryable): Promise<EventInsertResult[]> {
    if (events.length === 0) return [];
    if (on !== undefined) return this.#sendEvents(events, on);
    return this.receipts.each<EventInsert, EventInsertResult>(events, {
      perform: (items, client) => this.#sendOpen(items, client),
      isDone: isDelivered,
      repeat: () => ({ result: "repeated" }),
    });
  }

  /** Leaves out the events of tokens whose waits are over. */
  #sendOpen(events: readonly EventInsert[], on?: PostgresClient): Promise<EventInsertResult[]> {
    if (!events.some(hasToken)) return this.#sendEvents(events, on);
    const send = async (client: PostgresClient) => {
      const over = await this.#tokens.findEnded(events, client);
      const open = events.filter((event) => !over.has(event));
      const results = open.length === 0 ? [] : await this.#sendEvents(open, client);
      return events.map((event) => results[open.indexOf(event)] ?? { result: "over" as const });
    };
    return on === undefined ? this.receipts.transaction(send) : send(on);
  }

  async #sendEvents(events: readonly EventInsert[], on?: PostgresQueryable): Promise<EventInsertResult[]> {
    const first = new Map(events.map((event) => [eventKey(event), event] as const).reverse());
    const unique = events.filter((event) => first.get(eventKey(event)) === event);
    const carried = on === undefined ? this.#dedicated.carry?.(unique.map(({ namespace }) => namespace)) : null;
    const statement = sendEvents(this.schema, { later: on !== undefined });
    const { rows } = await this.connection.run(statement, [this.now(), ...eventColumns(unique)], on, carried);
    const results = new Map(rows.map((row) => [unique[toNumber(row.index) - 1], toEventResult(row)]));
    return events.map((event) => {
      const result = results.get(first.get(eventKey(event))) ?? { result: "missing" };
      return result.result === "sent" && !results.has(event) ? { ...result, result: "known" } : result;
    });
  }

  async #insert(instances: readonly InstanceInsert[]): Promise<InstanceInsertResult[]> {
    const unclaimed = instances.filter(({ lease }) => lease === null);
    const carried = this.#dedicated.carry?.(unclaimed.map(({ namespace }) => namespace));
    return (await this.#insertNew(instances, carried)) ?? this.#insertAny(instances, { carried });
  }

  /** Null if these aren't the common case, or some of the ids exist. */
  async #insertNew(
    instances: readonly InstanceInsert[],
    carried?: Companion | null,
  ): Promise<InstanceInsertResult[] | null> {
    const lease = instances[0]?.lease ?? null;
    if (!instances.every((one) => isPlain(one) && one.lease?.lock === lease?.lock)) return null;
    const values = [
      this.now(),
      ...instanceColumns(inOrder(instances, byName)),
      lease?.lock ?? null,
      lease?.leaseMs ?? null,
    ];
    try {
      const { rows } = await this.run(insertNewInstances, values, undefined, carried);
      const at = toNumber(rows[0]?.now);
      return instances.map(({ ref }) => ({ result: "created", ref, at }));
    } catch (error) {
      if (isUniqueViolation(error)) return null;
      throw error;
    }
  }

  async #insertAny(
    instances: readonly InstanceInsert[],
    { carried, on }: { readonly carried?: Companion | null | undefined; readonly on?: PostgresQueryable } = {},
  ): Promise<InstanceInsertResult[]> {
    const limited = instances.some(({ traits }) => isLimited(traits));
    const events = instances.some(({ event }) => event !== undefined);
    const statement = insertInstances(this.schema, { limited, events, later: on !== undefined });
    const columns = insertColumns(inOrder(instances, byName));
    const values = [this.now(), ...columns, ...(events ? firstEventColumns(instances) : [])];
    const { rows } = await this.connection.run(statement, values, on, carried);
    const created = new Map(rows.map((row) => [row.ref, row]));
    const found = created.size < instances.length ? await this.#findCreated(instances, on) : new Map();
    return instances.map(({ ref, parent }, index) => {
      const row = created.get(ref) ?? found.get(index + 1);
      const ours = row?.ref === ref || (parent !== null && row?.parent === parent);
      // An instance that is neither created nor found was deleted meanwhile.
      if (row === undefined) return { result: "existing", ref, at: this.clock.now() };
      return { result: ours ? "created" : "existing", ref: row.ref as string, at: toNumber(row.created_at) };
    });
  }

  async #findCreated(instances: readonly InstanceInsert[], on?: PostgresQueryable): Promise<Map<number, Row>> {
    const { rows } = await this.run(findCreatedInstances, nameColumns(instances), on);
    return new Map(rows.map((row) => [toNumber(row.index), row]));
  }
}

/** Whether nothing is written but the row, and the row has only the usual columns. */
function isPlain({ parent, traits, event }: InstanceInsert): boolean {
  return parent === null && traits === null && event === undefined;
}

/** Two events with the same key are one event: the second is known. */
function eventKey({ namespace, name, id, eventId }: EventInsert): string {
  return JSON.stringify([namespace, name, id, eventId]);
}

function toEventResult(row: Row): EventInsertResult {
  if (row.finished === true) return { result: "finished" };
  if (row.full === true) return { result: "full" };
  return { result: row.known === true ? "known" : "sent", ref: row.ref as string };
}
